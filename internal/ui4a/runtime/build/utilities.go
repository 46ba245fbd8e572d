package main

import "macaron/internal/ui4a/library"

// classes gives the families of utility classes that the stylesheet has.
func classes() []library.Class { return nil }
