package ui4a

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// FenceInfo is what stands behind the backticks of a card's fence.
const FenceInfo = "ui4a/tsx"

// Fence opens a card in an answer: four backticks, since the code in a card may
// contain three.
const Fence = "````" + FenceInfo

// PatchInfo is what stands behind the backticks of a patch's fence.
const PatchInfo = "ui4a/patch"

// Block is a piece of an answer: text, a card, or a patch of a card.
type Block struct {
	Card  bool    `json:"card"`            // a card or a patch
	Patch bool    `json:"patch,omitempty"` // a patch: what it holds is read by Patch
	On    Surface `json:"on,omitempty"`    // the surface that the fence names behind its info
	Lost  bool    `json:"lost,omitempty"`  // it names a canvas by what can be no name of one
	Text  string  `json:"text"`            // the text with its line ends, or what is between the fences
	Open  bool    `json:"open"`            // a card whose closing fence has not come
	Slip  bool    `json:"slip"`            // a card whose fence says tsx, or has fewer than four backticks
}

// Fences reads an answer as it streams. The blocks depend on the text alone, never on
// how it was cut. The zero value is ready.
//
// A fence is a line of at least three backticks and ui4a/tsx or ui4a/patch, indented by at most three
// spaces, and closed by a line of at least as many backticks. A fence of tsx or jsx that
// imports from $ui4a/ is a card too: models write it for the other. A fence of any other
// kind is text, and no fence opens within it.
type Fences struct {
	done  []Block         // closed for good
	tail  strings.Builder // the text after them
	line  strings.Builder
	ticks int    // of the fence that is open; 0 outside
	kind  int    // of the fence that is open
	head  string // its opening line
	body  strings.Builder
	cards int
}

const (
	foreign = iota // a fence of something else: text
	maybe          // tsx or jsx: a card once it imports from $ui4a/
	card
)

// Write takes the next piece of the answer.
func (f *Fences) Write(piece string) {
	for piece != "" {
		i := strings.IndexByte(piece, '\n')
		if i < 0 {
			f.line.WriteString(piece)
			return
		}
		f.line.WriteString(piece[:i+1])
		piece = piece[i+1:]
		line := f.line.String()
		f.line.Reset()
		f.take(line)
	}
}

// take handles one whole line.
func (f *Fences) take(line string) {
	if f.ticks == 0 {
		n, info := opening(line)
		f.ticks, f.kind = n, kindOf(info)
		if n == 0 || f.kind == foreign {
			f.text(line)
		} else {
			f.head = line
		}
		return
	}
	if !closes(line, f.ticks) {
		f.inside(line)
		return
	}
	f.end(line)
}

// inside is a line of the fence that is open.
func (f *Fences) inside(line string) {
	if f.kind == foreign {
		f.text(line)
		return
	}
	f.body.WriteString(line)
	if f.kind == maybe && imports(line) {
		f.kind = card
	}
}

// end closes the fence; line is what closed it.
func (f *Fences) end(line string) {
	switch {
	case f.kind == foreign:
		f.text(line)
	case f.kind == maybe || f.cards == MaxFences:
		f.text(f.head + f.body.String() + line)
	default:
		f.done = append(f.texts(), f.block())
		f.tail.Reset()
		f.cards++
	}
	f.ticks, f.head = 0, ""
	f.body.Reset()
}

// block is the card whose fence is open.
func (f *Fences) block() Block {
	_, info := opening(f.head)
	name, rest, _ := strings.Cut(info, " ")
	named := norm.NFC.String(strings.TrimSpace(rest)) // a name has one spelling, however it was composed
	on, err := ParseSurface(named)
	if err != nil {
		on = ""
	}
	patch := strings.EqualFold(name, PatchInfo)
	return Block{Card: true, Patch: patch, On: on, Lost: err != nil && Surface(named).Kind() == CanvasSurface, Text: f.body.String(), Slip: f.ticks < 4 || !patch && !strings.EqualFold(name, FenceInfo)}
}

func (f *Fences) text(s string) { f.tail.WriteString(s) }

// texts are the closed blocks and the text after them.
func (f *Fences) texts() []Block {
	if f.tail.Len() == 0 {
		return f.done
	}
	return append(f.done, Block{Text: f.tail.String()})
}

// Blocks is what has been read. While the answer streams, a line whose end has not come
// is left out where it may yet be a fence; final says that nothing follows.
func (f *Fences) Blocks(final bool) []Block {
	g := Fences{done: append([]Block(nil), f.done...), ticks: f.ticks, kind: f.kind, head: f.head, cards: f.cards}
	g.tail.WriteString(f.tail.String())
	g.body.WriteString(f.body.String())
	if line := f.line.String(); line != "" && (final || !fenceBegins(line)) {
		g.take(line)
	}
	if g.ticks == 0 || g.kind == foreign {
		return g.texts()
	}
	switch {
	case g.kind == card && g.cards < MaxFences:
		b := g.block()
		b.Open = true
		return append(g.texts(), b)
	case final:
		g.text(g.head + g.body.String())
	}
	return g.texts()
}

// SplitFences reads a whole answer.
func SplitFences(answer string) []Block {
	var f Fences
	f.Write(answer)
	return f.Blocks(true)
}

// opening gives the backticks and the info string of a line that opens a fence, or 0.
func opening(line string) (ticks int, info string) {
	s := unindent(line)
	for ticks < len(s) && s[ticks] == '`' {
		ticks++
	}
	info = strings.TrimSpace(s[ticks:])
	if ticks < 3 || strings.Contains(info, "`") {
		return 0, ""
	}
	return ticks, info
}

func closes(line string, ticks int) bool {
	n, info := opening(line)
	return n >= ticks && info == ""
}

// fenceBegins says whether the beginning of a line may become a fence.
func fenceBegins(line string) bool {
	s := strings.TrimLeft(line, " ")
	return len(line)-len(s) <= 3 && (s == "" || s[0] == '`')
}

// unindent drops up to three spaces; a line indented by more is no fence.
func unindent(line string) string {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return ""
	}
	return s
}

func firstWord(info string) string {
	word, _, _ := strings.Cut(info, " ")
	return strings.ToLower(word)
}

func kindOf(info string) int {
	switch firstWord(info) {
	case FenceInfo, PatchInfo:
		return card
	case "tsx", "jsx", "ui4a", "ui4a-tsx":
		return maybe
	}
	return foreign
}

// imports says whether a line imports from the card's library.
func imports(line string) bool {
	return strings.Contains(line, `"$ui4a/`) || strings.Contains(line, `'$ui4a/`)
}
