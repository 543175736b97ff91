@header@
// Sends @rows@ rows through @name@_stream, first at full speed and then with waits on both sides, and compares the answers
@cells@
`timescale 1ns / 1ps
module @name@_stream_test;
    localparam ROWS = @rows@, WORDS = @words@, LATENCY = @latency@;
    reg aclk, aresetn, waits, cut;
    reg [@word_high@:0] words [0:ROWS * WORDS - 1];
    reg [@answer_high@:0] expected [0:ROWS - 1];
    reg [@word_high@:0] s_data;
    reg s_valid, s_last, m_ready;
    wire [@answer_high@:0] m_data;
    wire s_ready, m_valid, m_last, row_error;
    integer next, received, errors, clocks, entered, seed;

    @name@_stream stream (
        .aclk(aclk), .aresetn(aresetn),
        .s_axis_tdata(s_data), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_axis_tlast(s_last),
        .m_axis_tdata(m_data), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tlast(m_last),
        .row_error(row_error)
    );
    always #5 aclk = ~aclk;

    // tlast stands at the end of every fourth row.
    always @(posedge aclk) begin
        clocks <= clocks + 1;
        if (~aresetn) begin
            s_valid <= 1'b0;
            next <= 0;
        end else if (~s_valid | s_ready) begin
            if (cut) begin
                // The first word of a row that ends too early: it is not answered.
                cut <= 1'b0;
                s_valid <= 1'b1;
                s_data <= words[0];
                s_last <= 1'b1;
            end else if (next < ROWS * WORDS && (~waits || $random(seed) % 3 != 0)) begin
                s_valid <= 1'b1;
                s_data <= words[next];
                s_last <= next % (4 * WORDS) == 4 * WORDS - 1;
                next <= next + 1;
            end else begin
                s_valid <= 1'b0;
            end
        end
        if (aresetn && s_valid && s_ready && next == WORDS && entered < 0)
            entered <= clocks;
        m_ready <= ~waits || $random(seed) % 3 == 0;
        if (aresetn && m_valid && m_ready) begin
            if (m_data !== expected[received] || m_last !== (received % 4 == 3)) begin
                errors = errors + 1;
                $display("row %0d: the answer is %h, last %b, instead of %h", received, m_data, m_last, expected[received]);
            end
            if (received == 0 && ~waits && clocks - entered != LATENCY) begin
                errors = errors + 1;
                $display("the first answer came after %0d clocks instead of %0d", clocks - entered, LATENCY);
            end
            received = received + 1;
        end
    end

    task run(input slow);
        begin
            aresetn = 1'b0;
            waits = slow;
            cut = slow && WORDS > 1;
            received = 0;
            clocks = 0;
            entered = -1;
            repeat (4) @(negedge aclk);
            aresetn = 1'b1;
            while (received < ROWS && clocks < 100 * (ROWS * WORDS + LATENCY + 100)) @(negedge aclk);
            // Nothing may follow the last answer.
            repeat (4 * LATENCY) @(negedge aclk);
            if (received != ROWS || row_error !== (slow && WORDS > 1)) begin
                errors = errors + 1;
                $display("%0d answers came, row_error is %b", received, row_error);
            end
        end
    endtask

    initial begin
@data@
        aclk = 1'b0;
        errors = 0;
        seed = 1;
        run(1'b0);
        run(1'b1);
        if (errors == 0) $display("PASSED: %0d rows, also under back pressure; latency %0d clocks", ROWS, LATENCY);
        else $display("FAILED: %0d errors", errors);
        $finish;
    end
endmodule
