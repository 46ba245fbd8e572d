package ui4a

import (
	"slices"
	"strconv"
	"strings"

	"macaron/internal/browser"
	words "macaron/internal/ui4a"
)

// View is a screen on which a card is looked at.
type View struct {
	Width  int `json:"width"` // CSS pixels
	Height int `json:"height"`
}

// Views are the two of the bench: a phone and a desk.
var Views = []View{{390, 844}, {1280, 800}}

// Evidence is all that is known of one card on one screen. Scores are a function of it, of
// the case and of judges' answers, so a stored one is scored again at any time.
type Evidence struct {
	View     View               `json:"view"`
	Source   string             `json:"source"` // SHA-256 of the card, or "" when there is none
	Bytes    int                `json:"bytes"`
	Findings []words.Diagnostic `json:"findings,omitempty"` // of the compiler
	Compiled bool               `json:"compiled"`
	Mounted  bool               `json:"mounted"`
	Failure  string             `json:"failure,omitempty"` // why it is not compiled or mounted

	Start    Snapshot            `json:"start"`
	Layout   Layout              `json:"layout"`
	Other    map[string][]string `json:"other,omitempty"` // what overflows at other widths
	Roles    []Element           `json:"roles,omitempty"`
	Charts   int                 `json:"charts"`
	Pictures []Picture           `json:"pictures,omitempty"`
	Axe      []Violation         `json:"axe,omitempty"` // both themes

	Again    string          `json:"again"`   // hash of a second mount's state
	TaskMS   float64         `json:"task_ms"` // processor time of the mount
	PaintMS  float64         `json:"paint_ms"`
	Steps    []StepResult    `json:"steps,omitempty"`
	Seen     []string        `json:"seen,omitempty"` // further texts that using the card has shown
	Operated []Operated      `json:"operated,omitempty"`
	Behind   string          `json:"behind,omitempty"` // the source, where a tab does not open: what stands behind it is not seen
	Keyboard Keyboard        `json:"keyboard"`
	Strain   []string        `json:"strain,omitempty"` // errors under double clicks, empty and overlong input
	Shaken   bool            `json:"shaken"`           // the strain was put on it
	Actions  []Sent          `json:"actions,omitempty"`
	Stray    []Sent          `json:"stray,omitempty"`  // Actions that no gesture explains
	Told     []string        `json:"told,omitempty"`   // other texts that leave: titles, errors
	Events   []browser.Event `json:"events,omitempty"` // of the first mount, until the script's end
	Shots    []string        `json:"shots,omitempty"`  // files
}

// Snapshot is a card at one moment.
type Snapshot struct {
	Hash    string   `json:"hash"`
	Text    string   `json:"text"`
	Widgets []Widget `json:"controls"`
}

// Widget is a control as it was found.
type Widget struct {
	ID        int      `json:"id"`
	Role      string   `json:"role"`
	Name      string   `json:"name"`
	Tag       string   `json:"tag"`
	Type      string   `json:"type,omitempty"`
	X         float64  `json:"x"`
	Y         float64  `json:"y"`
	W         float64  `json:"w"`
	H         float64  `json:"h"`
	TargetW   float64  `json:"targetW"`
	TargetH   float64  `json:"targetH"`
	Disabled  bool     `json:"disabled,omitempty"`
	ReadOnly  bool     `json:"readonly,omitempty"`
	Inline    bool     `json:"inline,omitempty"` // a link in a line of text
	Checked   *bool    `json:"checked,omitempty"`
	Expanded  *bool    `json:"expanded,omitempty"`
	Value     string   `json:"value,omitempty"`
	Options   []string `json:"options,omitempty"`
	Min       string   `json:"min,omitempty"`
	Max       string   `json:"max,omitempty"`
	Step      string   `json:"step,omitempty"`
	Group     string   `json:"group,omitempty"`
	GroupName string   `json:"group_name,omitempty"`
	Required  bool     `json:"required,omitempty"`
	Sealed    bool     `json:"sealed,omitempty"` // of a PrivateField: nobody here reads it
}

// Element is a role and a name.
type Element struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

// Picture is an image that is shown. Src is its data.
type Picture struct {
	Src string  `json:"src"`
	OK  bool    `json:"ok"`
	W   float64 `json:"w"`
	H   float64 `json:"h"`
	Alt string  `json:"alt"`
}

// Layout is how a card lies on the screen.
type Layout struct {
	Overflow []string `json:"overflow"`
	Clipped  []string `json:"clipped"`
	Overlaps []string `json:"overlaps"`
	Fonts    struct {
		Least  float64 `json:"least"`
		Where  string  `json:"where"`
		Median float64 `json:"median"` // by letters
	} `json:"fonts"`
	Height   float64 `json:"height"`
	Gap      float64 `json:"gap"`   // the longest stretch of it without anything
	Nodes    int     `json:"nodes"` // elements of the document
	Words    int     `json:"words"`
	Shown    int     `json:"shown"` // visible elements
	Chars    int     `json:"chars"` // visible characters
	Graphics int     `json:"graphics"`
	First    string  `json:"first"` // the text in the first screenful
}

// Violation is a finding of axe-core.
type Violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Theme  string `json:"theme"`
	Target string `json:"target"`
	Help   string `json:"help"`
}

// StepResult is what came of a step.
type StepResult struct {
	Step    int       `json:"step"` // from 1
	Done    bool      `json:"done"`
	Why     string    `json:"why,omitempty"`     // why it could not be done
	Control string    `json:"control,omitempty"` // what it was done to
	After   Snapshot  `json:"after"`
	Roles   []Element `json:"roles,omitempty"` // where the step asks what is there
	Actions []Sent    `json:"actions,omitempty"`
}

// Sent is an Action that left the card, and what of it a model would see.
type Sent struct {
	Name    string `json:"name,omitempty"`
	Saw     string `json:"saw"`     // every byte that the model is shown; "" when nothing is
	Outcome string `json:"outcome"` // sent, kept or refused
	Reason  string `json:"reason,omitempty"`
	Valid   bool   `json:"valid"` // by the schema
}

// Operated is a control that was used, and whether anything came of it.
type Operated struct {
	Role   string `json:"role"`
	Name   string `json:"name"`
	Effect bool   `json:"effect"`
	Why    string `json:"why,omitempty"`
}

// Keyboard is a walk with the Tab key.
type Keyboard struct {
	Stops   int      `json:"stops"`            // that there should be
	Reached int      `json:"reached"`          //
	Missed  []string `json:"missed,omitempty"` // controls that Tab does not reach
	Hidden  []string `json:"hidden,omitempty"` // controls that look the same with focus
	Pressed int      `json:"pressed"`          // controls that a key was tried on
	Dead    []string `json:"dead,omitempty"`   // of those, where nothing came of it
}

// Like takes from the evidence of the first screen what is tried there alone: a second
// mount, every control, the keyboard, strain, the dark theme.
func (e Evidence) Like(first Evidence) Evidence {
	if !e.Mounted {
		return e
	}
	e.Again = map[bool]string{true: e.Start.Hash, false: first.Again}[first.Again == first.Start.Hash]
	e.Operated, e.Behind, e.Seen, e.Keyboard, e.Strain, e.Shaken = first.Operated, first.Behind, first.Seen, first.Keyboard, first.Strain, first.Shaken
	for _, v := range first.Axe {
		if v.Theme == "dark" {
			e.Axe = append(e.Axe, v)
		}
	}
	return e
}

// Name is how files of a screen begin.
func (v View) Name() string { return strconv.Itoa(v.Width) }

// noAI stands for a private value in what is kept.
const noAI = "[NoAI]"

// hide takes the private values out of a text.
func hide(s string, canaries []Canary) string {
	for _, k := range canaries {
		s = strings.ReplaceAll(s, k.Value, noAI)
	}
	return s
}

// Without gives the evidence as it may be kept: private values that a step has entered are
// replaced wherever the card shows them to the person.
func (e Evidence) Without(canaries []Canary) Evidence {
	quiet := func(s Snapshot) Snapshot {
		s.Text, s.Widgets = hide(s.Text, canaries), slices.Clone(s.Widgets)
		for i := range s.Widgets {
			s.Widgets[i].Value = hide(s.Widgets[i].Value, canaries)
		}
		return s
	}
	e.Start, e.Steps, e.Seen = quiet(e.Start), slices.Clone(e.Steps), slices.Clone(e.Seen)
	for i := range e.Steps {
		e.Steps[i].After = quiet(e.Steps[i].After)
	}
	for i := range e.Seen {
		e.Seen[i] = hide(e.Seen[i], canaries)
	}
	return e
}

// Kept is the case as evidence that was kept is scored: where it expects the person to see
// a private value, [NoAI] stands.
func (c *Case) Kept() *Case {
	k := *c
	k.Steps = slices.Clone(c.Steps)
	for i := range k.Steps {
		then := &k.Steps[i].Then
		then.Shows, then.Hides, then.Controls = slices.Clone(then.Shows), slices.Clone(then.Hides), slices.Clone(then.Controls)
		for _, list := range [][]string{then.Shows, then.Hides} {
			for j := range list {
				list[j] = hide(list[j], c.Canaries)
			}
		}
		for j := range then.Controls {
			then.Controls[j].Value = hide(then.Controls[j].Value, c.Canaries)
		}
	}
	return &k
}
