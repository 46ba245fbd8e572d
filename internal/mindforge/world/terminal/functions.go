package terminal

import (
	"sort"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
)

type function = world.Function[*place]

type param = world.Param[*place]

var (
	fileParam = param{Name: "file", Enum: func(p *place) []string { return p.names }}
	toParam   = param{Name: "to", Enum: func(p *place) []string { return p.names }}
	wordParam = param{Name: "word", Enum: func(p *place) []string { return p.words }}
	textParam = param{Name: "text"}
)

// functions are the tools. Each does one thing with the files of the workspace.
var functions = []function{
	{Name: "list_names", About: "List the files.", Effect: tool.Read, Do: func(p *place, _ map[string]string) (string, error) {
		all, err := p.disk.list()
		return strings.Join(all, "\n"), err
	}},
	reading("read_text", "Read the text of a file.", func(text string) string { return strings.TrimSuffix(text, "\n") }),
	reading("count_lines", "Count the lines of a file.", func(text string) string { return strconv.Itoa(len(lines(text))) }),
	reading("count_words", "Count the words of a file.", func(text string) string { return strconv.Itoa(len(strings.Fields(text))) }),
	reading("first_line", "Show the first line of a file.", func(text string) string { return edge(lines(text), 0) }),
	reading("last_line", "Show the last line of a file.", func(text string) string { return edge(lines(text), -1) }),
	{Name: "find_file", About: "Find the file that has a word in it.", Params: []param{wordParam}, Effect: tool.Read, Do: func(p *place, a map[string]string) (string, error) {
		return p.find(func(text string) bool {
			for _, w := range strings.Fields(text) {
				if w == a["word"] {
					return true
				}
			}
			return false
		})
	}},
	{Name: "longest_file", About: "Name the file with the most lines.", Effect: tool.Read, Do: func(p *place, _ map[string]string) (string, error) {
		most := 0
		if _, err := p.find(func(text string) bool {
			most = max(most, len(lines(text)))
			return false
		}); errs.CodeOf(err) != errs.NotFound {
			return "", err
		}
		return p.find(func(text string) bool { return len(lines(text)) == most })
	}},
	{Name: "write_text", About: "Write a text as the whole of a file.", Params: []param{fileParam, textParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return saved, p.disk.write(a["file"], a["text"]+"\n")
	}},
	{Name: "add_line", About: "Add a line at the end of a file.", Params: []param{fileParam, textParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return p.edit(a["file"], func(text string) string { return text + a["text"] + "\n" })
	}},
	{Name: "copy_file", About: "Copy a file.", Params: []param{fileParam, toParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return p.move(a["file"], a["to"], false)
	}},
	{Name: "rename_file", About: "Give a file another name.", Params: []param{fileParam, toParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return p.move(a["file"], a["to"], true)
	}},
	{Name: "delete_file", About: "Delete a file.", Params: []param{fileParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return "deleted", p.disk.remove(a["file"])
	}},
	{Name: "join_file", About: "Add the text of a file to the end of another one.", Params: []param{fileParam, toParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		text, err := p.disk.read(a["file"])
		if err != nil {
			return "", err
		}
		return p.edit(a["to"], func(old string) string { return old + text })
	}},
	editing("sort_lines", "Sort the lines of a file.", func(l []string) []string { sort.Strings(l); return l }),
	editing("reverse_lines", "Put the lines of a file in reverse order.", func(l []string) []string {
		for i, j := 0, len(l)-1; i < j; i, j = i+1, j-1 {
			l[i], l[j] = l[j], l[i]
		}
		return l
	}),
	editing("drop_doubles", "Drop the doubles among the lines of a file.", func(l []string) []string {
		seen, out := map[string]bool{}, l[:0]
		for _, x := range l {
			if !seen[x] {
				seen[x] = true
				out = append(out, x)
			}
		}
		return out
	}),
	editing("drop_first_line", "Drop the first line of a file.", func(l []string) []string { return l[min(1, len(l)):] }),
	{Name: "replace_word", About: "Replace one word by another everywhere in a file.", Params: []param{fileParam, {Name: "old", Enum: wordParam.Enum}, {Name: "new", Enum: wordParam.Enum}}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return p.edit(a["file"], func(text string) string {
			l := lines(text)
			for i := range l {
				words := strings.Split(l[i], " ")
				for j, w := range words {
					if w == a["old"] {
						words[j] = a["new"]
					}
				}
				l[i] = strings.Join(words, " ")
			}
			return unlines(l)
		})
	}},
}

const saved = "saved"

// reading is a function of a file's text.
func reading(name, about string, get func(text string) string) function {
	return function{Name: name, About: about, Params: []param{fileParam}, Effect: tool.Read, Do: func(p *place, a map[string]string) (string, error) {
		text, err := p.disk.read(a["file"])
		return get(text), err
	}}
}

// editing changes the lines of a file.
func editing(name, about string, do func(lines []string) []string) function {
	return function{Name: name, About: about, Params: []param{fileParam}, Effect: tool.Write, Do: func(p *place, a map[string]string) (string, error) {
		return p.edit(a["file"], func(text string) string { return unlines(do(lines(text))) })
	}}
}

func (p *place) edit(name string, do func(text string) string) (string, error) {
	text, err := p.disk.read(name)
	if err != nil {
		return "", err
	}
	return saved, p.disk.write(name, do(text))
}

func (p *place) move(from, to string, away bool) (string, error) {
	text, err := p.disk.read(from)
	if err == nil && from == to {
		err = errs.New(errs.InvalidRequest, "the two names are one", "")
	}
	if err == nil {
		err = p.disk.write(to, text)
	}
	if err == nil && away {
		err = p.disk.remove(from)
	}
	return saved, err
}

// find names the first file, by name, whose text fits.
func (p *place) find(fits func(text string) bool) (string, error) {
	all, err := p.disk.list()
	if err != nil {
		return "", err
	}
	for _, name := range all {
		text, err := p.disk.read(name)
		if err != nil {
			return "", err
		}
		if fits(text) {
			return name, nil
		}
	}
	return "", errs.New(errs.NotFound, "no file fits", "")
}

func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func unlines(l []string) string {
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

// edge is a line from the beginning or (-1) the end; "" of an empty file.
func edge(l []string, at int) string {
	if len(l) == 0 {
		return ""
	}
	return l[(at+len(l))%len(l)]
}
