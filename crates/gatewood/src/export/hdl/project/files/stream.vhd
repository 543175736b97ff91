@header@
-- @name@ behind a stream: rows come in word by word, answers go out one at a time, and both sides may wait.
-- A row is @words@ words of @word@ bits, the lowest first. tlast may stand at the last word of any row, and comes out with its
-- answer; where it stands earlier the row is dropped and row_error stays high until reset.
-- The circuit itself never waits: words are taken only where there is room for the answers. So nothing but the ends of this
-- entity hangs on tready, and the clock can be that of the circuit.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity @name@_stream is
  port (
    aclk : in std_logic;
    aresetn : in std_logic;
    s_axis_tdata : in std_logic_vector(@word_high@ downto 0);
    s_axis_tvalid : in std_logic;
    s_axis_tready : out std_logic;
    s_axis_tlast : in std_logic;
    m_axis_tdata : out std_logic_vector(@answer_high@ downto 0);
    m_axis_tvalid : out std_logic;
    m_axis_tready : in std_logic;
    m_axis_tlast : out std_logic;
    row_error : out std_logic
  );
end @name@_stream;

architecture stream of @name@_stream is
  -- A word as it comes. Three more can come before ready falls, and each may end a row: there is room for their answers.
  signal ready, word_valid, word_last : std_logic;
  signal room : natural range 0 to @room@;
  signal word : std_logic_vector(@word_high@ downto 0);
  -- Words shift into the row from above, so that the first ends at the bottom.
  signal count : natural range 0 to @words@ - 1;
  signal row : std_logic_vector(@row_high@ downto 0);
  signal at_end, row_valid, row_last, reset : std_logic;
  signal y : std_logic_vector(@output_high@ downto 0);
  signal y_valid : std_logic;
  signal last : std_logic_vector(@last_high@ downto 0);
  -- Answers wait here.
  subtype entry is std_logic_vector(@answer_high@ + 1 downto 0);
  type entries is array (natural range 0 to @room@ - 1) of entry;
  signal answers : entries;
  signal answer, output : entry;
  signal write_at, read_at : unsigned(@place_high@ downto 0);
  signal filled : natural range 0 to @room@;
  signal waiting, move, output_valid : std_logic;
begin
  s_axis_tready <= ready;
  process (aclk)
  begin
    if rising_edge(aclk) then
      if aresetn = '1' and room > 4 then
        ready <= '1';
      else
        ready <= '0';
      end if;
      word <= s_axis_tdata;
      word_valid <= aresetn and s_axis_tvalid and ready;
      word_last <= s_axis_tlast;
    end if;
  end process;

  at_end <= '1' when count = @words@ - 1 else '0';
  process (aclk)
    variable shifted : std_logic_vector(@shift_high@ downto 0);
  begin
    if rising_edge(aclk) then
      row_valid <= aresetn and word_valid and at_end;
      row_last <= word_last;
      last <= last(@last_shift@ downto 0) & row_last;
      if word_valid = '1' then
        shifted := word & row;
        row <= shifted(@shift_high@ downto @word@);
      end if;
      if aresetn = '0' then
        count <= 0;
        row_error <= '0';
      elsif word_valid = '1' then
        if at_end = '1' or word_last = '1' then
          count <= 0;
        else
          count <= count + 1;
        end if;
        if word_last = '1' and at_end = '0' then
          row_error <= '1';
        end if;
      end if;
    end if;
  end process;

  reset <= not aresetn;
  circuit : entity work.@name@ port map (
    clock => aclk, reset => reset, enable => '1', valid => row_valid, valid_out => y_valid,
@joined@
  );

  answer(@output_high@ downto 0) <= y;
@padding@
  answer(@answer_high@ + 1) <= last(@last_shift@);
  move <= waiting and (not output_valid or m_axis_tready);
  process (aclk)
  begin
    if rising_edge(aclk) then
      if y_valid = '1' then
        answers(to_integer(write_at)) <= answer;
      end if;
      if move = '1' then
        output <= answers(to_integer(read_at));
      end if;
      if aresetn = '0' then
        write_at <= (others => '0');
        read_at <= (others => '0');
        filled <= 0;
        waiting <= '0';
        output_valid <= '0';
        room <= @room@;
      else
        if y_valid = '1' then
          write_at <= write_at + 1;
        end if;
        if move = '1' then
          read_at <= read_at + 1;
        end if;
        if y_valid = '1' and move = '0' then
          filled <= filled + 1;
        elsif move = '1' and y_valid = '0' then
          filled <= filled - 1;
        end if;
        if y_valid = '1' or filled > 1 or (waiting = '1' and move = '0') then
          waiting <= '1';
        else
          waiting <= '0';
        end if;
        if output_valid = '0' or m_axis_tready = '1' then
          output_valid <= waiting;
        end if;
        if row_valid = '1' and move = '0' then
          room <= room - 1;
        elsif move = '1' and row_valid = '0' then
          room <= room + 1;
        end if;
      end if;
    end if;
  end process;
  m_axis_tdata <= output(@answer_high@ downto 0);
  m_axis_tlast <= output(@answer_high@ + 1);
  m_axis_tvalid <= output_valid;
end stream;
