# make        simulates the design
# make route  synthesises, places and routes it
NAME := @name@
TOP := $(NAME)_stream
FILES := $(NAME).@ending@ $(TOP).@ending@
MEGAHERTZ ?= @megahertz@

.PHONY: simulate synthesise route clean
simulate:
