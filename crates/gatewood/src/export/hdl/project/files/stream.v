@header@
// @name@ behind a stream: rows come in word by word, answers go out one at a time, and both sides may wait.
// A row is @words@ words of @word@ bits, the lowest first. tlast may stand at the last word of any row, and comes out with its
// answer; where it stands earlier the row is dropped and row_error stays high until reset.
// The circuit itself never waits: words are taken only where there is room for the answers. So nothing but the ends of this
// module hangs on tready, and the clock can be that of the circuit.
module @name@_stream (
    input wire aclk,
    input wire aresetn,
    input wire [@word_high@:0] s_axis_tdata,
    input wire s_axis_tvalid,
    output wire s_axis_tready,
    input wire s_axis_tlast,
    output wire [@answer_high@:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input wire m_axis_tready,
    output wire m_axis_tlast,
    output reg row_error
);
    // A word as it comes. Three more can come before ready falls, and each may end a row: there is room for their answers.
    reg ready;
    reg [@room_high@:0] room;
    reg [@word_high@:0] word;
    reg word_valid, word_last;
    assign s_axis_tready = ready;
    always @(posedge aclk) begin
        ready <= aresetn & room > 4;
        word <= s_axis_tdata;
        word_valid <= aresetn & s_axis_tvalid & ready;
        word_last <= s_axis_tlast;
    end

    // Words shift into the row from above, so that the first ends at the bottom.
    reg [@count_high@:0] count;
    reg [@row_high@:0] row;
    reg row_valid, row_last;
    wire at_end = count == @count_end@;
    wire [@shift_high@:0] shifted = {word, row};
    always @(posedge aclk) begin
        row_valid <= aresetn & word_valid & at_end;
        row_last <= word_last;
        if (word_valid)
            row <= shifted[@shift_high@:@word@];
        if (~aresetn) begin
            count <= 0;
            row_error <= 1'b0;
        end else if (word_valid) begin
            count <= (at_end | word_last) ? 0 : count + 1'b1;
            if (word_last & ~at_end)
                row_error <= 1'b1;
        end
    end

    wire [@output_high@:0] y;
    wire y_valid;
    reg [@last_high@:0] last;
    @name@ circuit (
        .clock(aclk), .reset(~aresetn), .enable(1'b1), .valid(row_valid), .valid_out(y_valid),
@joined@
    );
    always @(posedge aclk)
        last <= {last[@last_shift@:0], row_last};

    // Answers wait here.
    reg [@answer_high@ + 1:0] answers [0:@room@ - 1];
    reg [@place_high@:0] write_at, read_at;
    reg [@room_high@:0] filled;
    reg waiting;
    reg [@answer_high@ + 1:0] out;
    reg out_valid;
    wire move = waiting & (~out_valid | m_axis_tready);
    always @(posedge aclk) begin
        if (y_valid)
            answers[write_at] <= {last[@last_shift@], @padding@y};
        if (move)
            out <= answers[read_at];
        if (~aresetn) begin
            write_at <= 0;
            read_at <= 0;
            filled <= 0;
            waiting <= 1'b0;
            out_valid <= 1'b0;
            room <= @room@;
        end else begin
            if (y_valid)
                write_at <= write_at + 1'b1;
            if (move)
                read_at <= read_at + 1'b1;
            if (y_valid & ~move)
                filled <= filled + 1'b1;
            else if (move & ~y_valid)
                filled <= filled - 1'b1;
            waiting <= y_valid | filled > 1 | (waiting & ~move);
            if (~out_valid | m_axis_tready)
                out_valid <= waiting;
            if (row_valid & ~move)
                room <= room - 1'b1;
            else if (move & ~row_valid)
                room <= room + 1'b1;
        end
    end
    assign {m_axis_tlast, m_axis_tdata} = out;
    assign m_axis_tvalid = out_valid;
endmodule
