package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"macaron/internal/mindforge/world"
)

type draft = world.Draft[*place]

var (
	stems = []string{"notes", "plan", "list", "log", "draft", "menu", "guests", "tools", "songs", "trips"}
	words = []string{"apple", "river", "stone", "cloud", "piano", "tiger", "lemon", "candle", "garden", "silver", "window", "basket", "copper", "meadow", "rocket", "saddle"}
)

// lay puts files into the workspace: so many as the scale says, each with lines of words. All
// numbers of lines differ, and each file has a word of its own. It gives the files' names.
func lay(d *draft) []string {
	p := d.State
	pool := d.Shuffle("words", words)
	n := 3 + min(d.Scale, 6)
	p.names = d.Shuffle("names", stems)[:n]
	p.words = append([]string(nil), pool[:n+2]...)
	disk := p.disk.(memory)
	counts := d.Shuffle("counts", []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}[:n])
	for i := range p.names {
		p.names[i] += ".txt"
		c, _ := strconv.Atoi(counts[i]) // a digit
		var all []string
		for j := range c + 2 + d.Scale {
			all = append(all, d.Pick(fmt.Sprint("line ", i, j), pool[n+2:]))
		}
		own := d.Int(fmt.Sprint("own ", i), 0, len(all)-1)
		all[own] += " " + pool[i] // the file's own word
		disk[p.names[i]] = unlines(all)
	}
	return append([]string(nil), p.names...)
}

// fresh is the name of a file that is not there yet, which tools may be told of.
func fresh(d *draft, key string) string {
	names := d.State.names
	for n := 0; ; n++ {
		name := d.Pick(key, []string{"result", "copy", "final", "saved", "backup", "output"})
		if n > 0 {
			name += strconv.Itoa(n + 1)
		}
		if name += ".txt"; !contains(names, name) {
			d.State.names = append(names, name)
			return name
		}
	}
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

func (p *place) text(name string) string { return p.disk.(memory)[name] }

var families = []world.Family[*place]{
	{Name: "count_lines", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("Count the lines of the file %s.", f)
		d.Answer(d.Call("count_lines", "file", f), number)
	}},
	{Name: "first_line", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("What is the first line of the file %s?", f)
		v := d.Call("first_line", "file", f)
		single(d, v)
		d.Answer(v, word)
	}},
	{Name: "rename", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		to := fresh(d, "to")
		d.Ask("Rename the file %s to %s.", f, to)
		d.Call("rename_file", "file", f, "to", to)
		d.Leave(world.Const(to), file)
	}},
	{Name: "delete", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("Delete the file %s.", f)
		d.Call("delete_file", "file", f)
		d.Leave(world.Const(""), state)
	}},
	{Name: "copy", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		to := fresh(d, "to")
		d.Ask("Copy the file %s to %s.", f, to)
		d.Call("copy_file", "file", f, "to", to)
		d.Leave(world.Const(to), file)
	}},
	{Name: "append", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		w := d.Slot("word", d.State.words)
		d.Ask("Add a line with the word %s at the end of the file %s.", w, f)
		d.Call("add_line", "file", f, "text", w)
		d.Leave(world.Const(f), file)
	}},
	{Name: "create", Build: func(d *draft) {
		lay(d)
		f, w := fresh(d, "to"), d.Slot("word", d.State.words)
		d.Ask("Write the word %[2]s into a new file %[1]s.", f, w)
		d.Call("write_text", "file", f, "text", w)
		d.Leave(world.Const(f), file)
	}},
	{Name: "sort", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("Sort the lines of the file %s.", f)
		changes(d, f, func() { d.Call("sort_lines", "file", f) })
		d.Leave(world.Const(f), file)
	}},
	{Name: "swap", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		old, to := d.Slot("old word", ownOf(d, f)), d.Slot("new word", d.State.words)
		d.Ask("Replace the word %s by the word %s in the file %s.", old, to, f)
		changes(d, f, func() { d.Call("replace_word", "file", f, "old", old, "new", to) })
		d.Leave(world.Const(f), file)
	}},
	{Name: "find", Build: func(d *draft) {
		lay(d)
		w := d.Slot("word", d.State.words[:len(d.State.words)-2])
		d.Ask("Find the file that has the word %s in it.", w)
		d.Answer(d.Call("find_file", "word", w), word)
	}},
	{Name: "find_delete", Build: func(d *draft) {
		lay(d)
		w := d.Slot("word", d.State.words[:len(d.State.words)-2])
		d.Ask("Delete the file that has the word %s in it.", w)
		d.Call("delete_file", "file", d.Call("find_file", "word", w))
		d.Leave(world.Const(""), state)
	}},
	{Name: "longest_rename", Build: func(d *draft) {
		lay(d)
		to := fresh(d, "to")
		d.Ask("Rename the file with the most lines to %s.", to)
		d.Call("rename_file", "file", d.Call("longest_file"), "to", to)
		d.Leave(world.Const(to), file)
	}},
	{Name: "count_save", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		to := fresh(d, "to")
		d.Ask("Count the words of the file %s and write the number into %s.", f, to)
		d.Call("write_text", "file", to, "text", d.Call("count_words", "file", f))
		d.Leave(world.Const(to), file)
	}},
	{Name: "last_append", Build: func(d *draft) {
		all := lay(d)
		a, b := d.Slot("first file", all), d.Slot("second file", all)
		d.Ask("Add the last line of the file %s to the end of the file %s.", a, b)
		d.Call("add_line", "file", b, "text", d.Call("last_line", "file", a))
		d.Leave(world.Const(b), file)
	}},
	{Name: "join", Build: func(d *draft) {
		all := lay(d)
		a, b := d.Slot("first file", all), d.Slot("second file", all)
		d.Ask("Add the text of the file %s to the end of the file %s, then delete %s.", a, b, a)
		d.Call("join_file", "file", a, "to", b)
		d.Call("delete_file", "file", a)
		d.Leave(world.Const(b), file)
	}},
	{Name: "sorted_first", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("Sort the lines of the file %s. What is its first line then?", f)
		changes(d, f, func() { d.Call("sort_lines", "file", f) })
		v := d.Call("first_line", "file", f)
		single(d, v)
		d.Answer(v, word)
	}},
	{Name: "unique_count", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		d.Ask("Drop the doubles among the lines of the file %s, then count its lines.", f)
		changes(d, f, func() { d.Call("drop_doubles", "file", f) })
		d.Answer(d.Call("count_lines", "file", f), number)
	}},
	{Name: "exchange", Build: func(d *draft) {
		all := lay(d)
		a, b := d.Slot("first file", all), d.Slot("second file", all)
		to := fresh(d, "to")
		d.Ask("The files %s and %s change their names with each other; use %s for the time between.", a, b, to)
		d.Call("rename_file", "file", a, "to", to)
		d.Call("rename_file", "file", b, "to", a)
		d.Call("rename_file", "file", to, "to", b)
		d.Leave(world.Const(a), file)
	}},
	{Name: "backup_cut", Build: func(d *draft) {
		f := d.Slot("file", lay(d))
		to := fresh(d, "to")
		d.Ask("Copy the file %s to %s, then drop the first line of %s.", f, to, f)
		d.Call("copy_file", "file", f, "to", to)
		d.Call("drop_first_line", "file", f)
		d.Leave(world.Const(to), file)
	}},
}

// changes rejects what leaves a file as it is.
func changes(d *draft, name string, do func()) {
	was := d.State.text(name)
	if do(); d.State.text(name) == was {
		d.Reject("the file is as it was")
	}
}

// single rejects a line of several words.
func single(d *draft, v world.Value) {
	if strings.Contains(v.Text, " ") || v.Text == "" {
		d.Reject("the line is not one word")
	}
}

// ownOf are the words of a file.
func ownOf(d *draft, name string) []string {
	seen, out := map[string]bool{}, []string{}
	for _, w := range strings.Fields(d.State.text(name)) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	for _, w := range out {
		if !contains(d.State.words, w) {
			d.State.words = append(d.State.words, w)
		}
	}
	return out
}

// tails go on with a word or number, which is written somewhere, or with a file.
var tails = []world.Tail[*place]{
	{From: number, Then: write}, {From: word, Then: write},
	{From: file, Then: func(d *draft, v world.Value, key string) {
		to := fresh(d, key+" to")
		d.Ask("Then copy %s to %s.", v.Text, to)
		d.Call("copy_file", "file", v.Text, "to", to)
		d.Leave(world.Const(to), file)
	}},
	{From: file, Then: func(d *draft, v world.Value, key string) {
		to := fresh(d, key+" to")
		d.Ask("Then rename %s to %s.", v.Text, to)
		d.Call("rename_file", "file", v.Text, "to", to)
		d.Leave(world.Const(to), file)
	}},
	{From: file, Then: func(d *draft, v world.Value, key string) {
		w := d.Pick(key+" word", d.State.words)
		d.Ask("Then add a line with the word %s to %s.", w, v.Text)
		d.Call("add_line", "file", v.Text, "text", w)
		d.Leave(v, file)
	}},
	{From: file, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then put the lines of %s in reverse order.", v.Text)
		d.Call("reverse_lines", "file", v.Text)
		d.Leave(v, file)
	}},
	{From: state, Then: func(d *draft, _ world.Value, key string) {
		to, w := fresh(d, key+" to"), d.Pick(key+" word", d.State.words)
		d.Ask("Then write the word %[2]s into a new file %[1]s.", to, w)
		d.Call("write_text", "file", to, "text", w)
		d.Leave(world.Const(to), file)
	}},
}

func write(d *draft, v world.Value, key string) {
	to := fresh(d, key+" to")
	d.Ask("Then write it into the file %s.", to)
	d.Call("write_text", "file", to, "text", v)
	d.Leave(world.Const(to), file)
}
