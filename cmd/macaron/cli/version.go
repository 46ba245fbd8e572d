package cli

// Version is stamped by the Makefile.
var Version = "dev"
