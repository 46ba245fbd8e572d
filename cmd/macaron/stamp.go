package main

// version is stamped by the Makefile.
var version = "dev"
