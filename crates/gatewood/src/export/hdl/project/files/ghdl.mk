GHDL ?= ghdl

simulate: $(FILES) $(TOP)_test.vhd
	$(GHDL) -a --std=93 $(FILES) $(TOP)_test.vhd
	$(GHDL) -e --std=93 --syn-binding $(TOP)_test
	$(GHDL) -r --std=93 --syn-binding $(TOP)_test --ieee-asserts=disable

clean:
	rm -f *.cf *.o $(TOP)_test *.json *.config *.asc *.log
