// A board around the circuit: pixels come in one by one, the class goes out to a pin.
module top (
    input wire clock,
    input wire pixel,       // the next pixel, from the top left to the bottom right
    input wire take,        // high while a pixel is to be taken
    output reg is_five
);
    // The pixel that came first ends up in x[0].
    reg [783:0] image;
    wire class;
    always @(posedge clock) begin
        if (take) image <= {pixel, image[783:1]};
        is_five <= class;
    end
    model model (.clock(clock), .x(image), .y(class));
endmodule
