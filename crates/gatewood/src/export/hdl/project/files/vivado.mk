
# AMD (Xilinx), by Vivado without a project; for yosys alone: make synthesise
YOSYS ?= yosys
VIVADO ?= vivado
PART ?= xc7a35tcpg236-1

synthesise: $(NAME).json
$(NAME).json: $(FILES)
	$(YOSYS)@yosys_flags@ -q -p "@read@; synth_xilinx -flatten -top $(TOP) -json $@"

route: $(FILES) $(NAME).xdc vivado.tcl
	$(VIVADO) -mode batch -source vivado.tcl -tclargs $(PART)
