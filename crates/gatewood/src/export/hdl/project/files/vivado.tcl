# Synthesises, places and routes the stream as a part of a larger design: vivado -mode batch -source vivado.tcl -tclargs PART
set part [lindex $argv 0]
if {$part eq ""} { set part xc7a35tcpg236-1 }
@read_command@ {@name@.@ending@ @name@_stream.@ending@}
read_xdc @name@.xdc
synth_design -top @name@_stream -part $part -mode out_of_context
opt_design
place_design
phys_opt_design
route_design
report_utilization -file utilization.rpt
report_timing_summary -file timing.rpt
write_checkpoint -force @name@_stream.dcp
