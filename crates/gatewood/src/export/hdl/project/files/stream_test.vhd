@header@
-- Sends @rows@ rows through @name@_stream, first at full speed and then with waits on both sides, and compares the answers
@cells@
library ieee;
use ieee.std_logic_1164.all;

entity @name@_stream_test is
end @name@_stream_test;

architecture test of @name@_stream_test is
  constant row_count : natural := @rows@;
  constant word_count : natural := @words@;
  constant latency : natural := @latency@;
  subtype word_bits is std_logic_vector(@word_high@ downto 0);
  subtype answer_bits is std_logic_vector(@answer_high@ downto 0);
  type word_list is array (0 to row_count * word_count - 1) of word_bits;
  type answer_list is array (0 to row_count - 1) of answer_bits;
  constant words : word_list := (
@words_data@
  );
  constant expected : answer_list := (
@answers_data@
  );
  signal aclk, aresetn, waits, cut_request : std_logic := '0';
  signal s_data : word_bits := (others => '0');
  signal s_valid, s_last, m_ready : std_logic := '0';
  signal m_data : answer_bits;
  signal s_ready, m_valid, m_last, row_error : std_logic;
  signal received, errors : natural := 0;
  signal finished : boolean := false;
begin
  stream : entity work.@name@_stream port map (
    aclk => aclk, aresetn => aresetn,
    s_axis_tdata => s_data, s_axis_tvalid => s_valid, s_axis_tready => s_ready, s_axis_tlast => s_last,
    m_axis_tdata => m_data, m_axis_tvalid => m_valid, m_axis_tready => m_ready, m_axis_tlast => m_last,
    row_error => row_error
  );
  aclk <= not aclk after 5 ns when not finished else '0';

  process (aclk)
    variable next_word, clocks : natural := 0;
    variable entered : integer := -1;
    variable cut : boolean := false;
    variable state : natural := 1;
    variable goes, last : boolean;

    -- Zero, one or two.
    impure function random return natural is
    begin
      state := (state * 1103 + 12345) mod 65536;
      return (state / 16) mod 3;
    end random;
  begin
    if rising_edge(aclk) then
      clocks := clocks + 1;
      if aresetn = '1' and m_valid = '1' and m_ready = '1' then
        last := received mod 4 = 3;
        if received >= row_count then
          errors <= errors + 1;
          report "an answer follows the last one" severity error;
        elsif m_data /= expected(received) or (m_last = '1') /= last then
          errors <= errors + 1;
          report "row " & integer'image(received) & " differs" severity error;
        elsif received = 0 and waits = '0' and clocks - entered /= latency then
          errors <= errors + 1;
          report "the first answer came after " & integer'image(clocks - entered) & " clocks" severity error;
        end if;
        received <= received + 1;
      end if;
      if aresetn = '1' and s_valid = '1' and s_ready = '1' and next_word = word_count and entered < 0 then
        entered := clocks;
      end if;
      if aresetn = '0' then
        s_valid <= '0';
        next_word := 0;
        entered := -1;
        received <= 0;
        cut := cut_request = '1';
      elsif s_valid = '0' or s_ready = '1' then
        goes := waits = '0' or random /= 0;
        if cut then
          -- The first word of a row that ends too early: it is not answered.
          cut := false;
          s_valid <= '1';
          s_data <= words(0);
          s_last <= '1';
        elsif goes and next_word < row_count * word_count then
          s_valid <= '1';
          s_data <= words(next_word);
          -- tlast stands at the end of every fourth row.
          if next_word mod (4 * word_count) = 4 * word_count - 1 then
            s_last <= '1';
          else
            s_last <= '0';
          end if;
          next_word := next_word + 1;
        else
          s_valid <= '0';
        end if;
      end if;
      if waits = '0' or random = 0 then
        m_ready <= '1';
      else
        m_ready <= '0';
      end if;
    end if;
  end process;

  process
    variable failed : boolean := false;
    procedure run(slow : std_logic) is
      variable expected_error : std_logic := '0';
      variable left : natural := 100 * (row_count * word_count + latency + 100);
    begin
      aresetn <= '0';
      waits <= slow;
      if word_count > 1 then
        expected_error := slow;
      end if;
      cut_request <= expected_error;
      for clock in 1 to 4 loop
        wait until falling_edge(aclk);
      end loop;
      aresetn <= '1';
      while left > 0 and (received < row_count) loop
        wait until falling_edge(aclk);
        left := left - 1;
      end loop;
      for clock in 1 to 4 * latency loop
        wait until falling_edge(aclk);
      end loop;
      if received /= row_count or row_error /= expected_error then
        failed := true;
        report integer'image(received) & " answers came" severity error;
      end if;
    end run;
  begin
    run('0');
    run('1');
    finished <= true;
    assert errors = 0 and not failed report "FAILED: " & integer'image(errors) & " errors" severity failure;
    report "PASSED: " & integer'image(row_count) & " rows, also under back pressure; latency "
      & integer'image(latency) & " clocks";
    wait;
  end process;
end test;
