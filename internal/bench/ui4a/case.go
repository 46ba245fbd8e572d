// Package ui4a is UI4A-Bench: requests for which a model writes a card, and rules that say
// how good the card is. A case is a request, what must be true of a card that answers it,
// and how a person uses the card; docs/formats/ui4a-bench.md is the format.
package ui4a

// Case is one request and what is held against its answer.
type Case struct {
	ID       string `toml:"id"`       // its directory's name
	Family   string `toml:"family"`   // a row of the tables
	Language string `toml:"language"` // ISO 639-1, of the request and so of the answer
	Render   *bool  `toml:"render"`   // false: no card is right here, a text is
	Request  string `toml:"request"`  // what the person says

	Context   []Context   `toml:"context"`
	Facts     Facts       `toml:"facts"`
	Never     Facts       `toml:"never"`
	Computed  []Computed  `toml:"computed"`
	Predicate []Predicate `toml:"predicate"`
	Steps     []Step      `toml:"step"`
	Canaries  []Canary    `toml:"canary"`
	Asks      []Ask       `toml:"ask"`

	Card   string            `toml:"-"` // card.tsx: the reference; "" where no card is right
	Answer string            `toml:"-"` // answer.md: the reference where no card is right
	Twin   string            `toml:"-"` // twin.html, or ""
	Assets map[string][]byte `toml:"-"` // content of files of Context, by the name of the entry
}

// Wants reports whether a card is right.
func (c *Case) Wants() bool { return c.Render == nil || *c.Render }

// Context is something that the assistant knows when it answers: a text, or a picture of
// the person's, which a card shows as <img src="asset:NAME">.
type Context struct {
	Name string `toml:"name"`
	Text string `toml:"text"`
	File string `toml:"file"` // in the case's directory: .svg, .png, .jpg, .webp
	Alt  string `toml:"alt"`  // what the picture shows, for a model that sees text only
}

// Facts are things that a person can read, in any usual notation. A text "A|B" is A or B.
type Facts struct {
	Text    []string  `toml:"text"`
	Numbers []float64 `toml:"numbers"`
	Dates   []string  `toml:"dates"` // 2026-12-04
	Times   []string  `toml:"times"` // 14:30
}

// Computed is a number that the card works out. Formula is over With.
type Computed struct {
	Name     string             `toml:"name"`
	Formula  string             `toml:"formula"`
	With     map[string]float64 `toml:"with"`
	After    int                `toml:"after"`    // shown after so many steps; 0: at once
	Decimals *int               `toml:"decimals"` // the least precision that counts; 2 when not given
}

// Control names controls of a card by what assistive technology calls them.
type Control struct {
	Role string `toml:"role"` // "button|link"; "" is any role that fits
	Name string `toml:"name"` // regular expression, found anywhere, upper and lower case alike
	Nth  int    `toml:"nth"`  // of several, from 0
}

// Predicate is an explicit wish of the request.
type Predicate struct {
	Is string `toml:"is"` // see predicateKinds
	Control
	Of    []string `toml:"of"` // texts
	N     int      `toml:"n"`
	Value string   `toml:"value"`
}

// Step is one thing that a person does, with input that the browser trusts.
type Step struct {
	Do string `toml:"do"` // see stepKinds
	Control
	Value string `toml:"value"`
	Then  Then   `toml:"then"`
}

// Then is what must hold when the step is done.
type Then struct {
	Shows    []string  `toml:"shows"`
	Hides    []string  `toml:"hides"`
	Controls []State   `toml:"control"`
	Actions  []Outcome `toml:"action"` // exactly these, in this order, each once
	Quiet    bool      `toml:"quiet"`  // no Action may come of it
}

// State is what a control must be like.
type State struct {
	Control
	Is    string `toml:"is"` // see stateKinds
	Value string `toml:"value"`
}

// Outcome is an Action as the model is to see it. The names of fields are the card's own
// affair, so what is asked for are values.
type Outcome struct {
	Name    string    `toml:"name"`    // regular expression, or ""
	Carries []string  `toml:"carries"` // texts in its visible part; "A|B" is A or B
	Numbers []float64 `toml:"numbers"`
	Lacks   []string  `toml:"lacks"`
}

// Canary is a value that the person enters and the model must never see.
type Canary struct {
	Name  string `toml:"name"`
	Value string `toml:"value"`
}

// Ask is a question for a judge where no rule can answer; yes is good.
type Ask struct {
	Layer    string `toml:"layer"` // content or constraint
	Question string `toml:"question"`
}

// The closed sets of words.
var (
	stepKinds      = []string{"click", "type", "select", "slide", "key"}
	stateKinds     = []string{"checked", "unchecked", "enabled", "disabled", "expanded", "collapsed", "value", "present", "absent"}
	predicateKinds = []string{"at_most", "at_least", "exactly", "order", "has", "lacks", "count_at_most", "count_at_least", "chart", "no_chart", "single_choice", "multiple_choice", "max_words", "asset", "initial", "first_view"}
	askLayers      = []string{"content", "constraint"}
	keys           = []string{"Enter", "Space", "Tab", "Escape", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"}
)
