package grammar

// Spacing says where JSON may have white space.
type Spacing uint8

// The spacings. Each ends: no answer can be white space for ever.
const (
	Spaced  Spacing = iota // one space, or a line break and up to 40 spaces, wherever JSON has room for some within a value
	Compact                // none
)

// SchemaOptions decide what a JSON Schema leaves open.
type SchemaOptions struct {
	Spacing Spacing
	// FormatAsNote treats a "format" that is not built in as an annotation, as the
	// standard does by default; else it is Unsupported.
	FormatAsNote bool
	// Closed takes an object that declares properties and says nothing about others as
	// one that has no others.
	Closed bool
}
