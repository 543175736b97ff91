# The clock that the design was made for. In a larger design this line is that of the clock there.
create_clock -period @period@ -name aclk [get_ports aclk]
