package web

import (
	"bytes"
	"html/template"
)

// frame is a page that shows one of a list: static/list.html with these words.
type frame struct {
	Title, Sidebar, List, One, Foot string
	Script, Style                   string // assets; no style: the shared ones alone
	Command                         string // that shows the same without JavaScript
	Steps                           bool   // it is replayed step by step
}

// frames are the pages of that kind, by the name of their file.
var frames = map[string]frame{
	"runs.html": {Title: "Runs", Sidebar: "Runs", List: "Stored runs", One: "Run", Foot: "Runs of agents on this machine.", Script: "runs.js", Command: "macaron run show", Steps: true},
	"training.html": {Title: "Training", Sidebar: "Training runs", List: "Training runs", One: "Training run", Foot: "Adapters under training on this machine.",
		Script: "training.js", Style: "training.css", Command: "macaron mint watch"},
	"forge.html": {Title: "Lineage", Sidebar: "Lineage", List: "Releases", One: "Lineage", Foot: "Releases of this machine, and what they came of.",
		Script: "forge.js", Style: "forge.css", Command: "macaron forge lineage"},
}

const framed = "list.html"

// render fills the frame; what is embedded is well-formed.
func (f frame) render(text []byte) []byte {
	var b bytes.Buffer
	if err := template.Must(template.New(framed).Parse(string(text))).Execute(&b, f); err != nil {
		panic(err)
	}
	return b.Bytes()
}
