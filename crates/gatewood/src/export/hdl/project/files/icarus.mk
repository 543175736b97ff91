IVERILOG ?= iverilog
VVP ?= vvp

simulate: $(TOP)_test.vvp
	$(VVP) $<

$(TOP)_test.vvp: $(FILES) $(TOP)_test.v
	$(IVERILOG) -g2005 -s $(TOP)_test -o $@ $^

clean:
	rm -f *.vvp *.json *.config *.asc *.log
