// Package compose is the world of tool composition: questions about a small workshop (items,
// shelves, rooms, makers, towns, people, teams), whose tables are drawn anew for each task.
// No answer is in the request; each needs what one tool gives as what the next one takes.
package compose

import (
	"strconv"

	"macaron/internal/mindforge/world"
)

// New makes the world.
func New() world.World {
	return world.New(world.Rules[*tables]{
		Name: "compose", Functions: functions, Families: families, Tails: tails, Formats: formats,
		Begin: newTables,
		Free: func(f world.Free) (*tables, error) {
			return newTables("free/"+strconv.FormatUint(f.Seed, 10), f.Scale), nil
		},
		Copy: func(t *tables) *tables { return t }, // nobody changes it
	})
}

// The kinds of answers.
const (
	number = "number"
	word   = "word"
	town   = "town"
	person = "person"
	room   = "room"
)

var formats = map[string]string{
	number: "Answer with the number alone.", word: "Answer with the one word alone.", town: "Answer with the name of the town alone.",
	person: "Answer with the name of the person alone.", room: "Answer with the name of the room alone.",
}

type (
	item struct {
		price, weight        int
		colour, shelf, maker string
	}
	shelf struct {
		room     string
		capacity int
	}
	roomRow struct {
		floor int
		guard string
	}
	maker struct {
		town    string
		founded int
	}
	townRow struct {
		region   string
		distance int
	}
	human struct {
		team  string
		hours int
	}
	team struct {
		lead   string
		budget int
	}
)

// tables are the workshop of one task.
type tables struct {
	names  map[string][]string // of the rows of each table, in order
	items  map[string]item
	shelf  map[string]shelf
	rooms  map[string]roomRow
	makers map[string]maker
	towns  map[string]townRow
	people map[string]human
	teams  map[string]team
}

// Names by table. A table that needs more repeats them with a number.
var names = map[string][]string{
	"item":   {"lamp", "kite", "drum", "rope", "vase", "coat", "bell", "ring", "fork", "boot", "cup", "sock"},
	"shelf":  {"A", "B", "C", "D", "E", "F", "G", "H"},
	"room":   {"hall", "attic", "cellar", "studio", "office", "garage"},
	"maker":  {"Arno", "Bela", "Cleo", "Dina", "Egon", "Fritz"},
	"town":   {"Riga", "Oslo", "Bonn", "Lyon", "Graz", "Turin"},
	"person": {"Ann", "Bob", "Cy", "Dee", "Eve", "Fay", "Gus", "Hal"},
	"team":   {"red", "blue", "gold", "jade"},
}

// sizes are the rows of each table at scale 0, and how many each further scale adds.
var sizes = map[string][2]int{"item": {6, 3}, "shelf": {3, 1}, "room": {3, 1}, "maker": {3, 1}, "town": {3, 1}, "person": {5, 2}, "team": {2, 1}}

var (
	colours = []string{"white", "black", "green", "brown", "pink", "grey", "violet"}
	regions = []string{"north", "south", "east", "west"}
)

func newTables(salt string, scale int) *tables {
	t := &tables{names: map[string][]string{}, items: map[string]item{}, shelf: map[string]shelf{}, rooms: map[string]roomRow{}, makers: map[string]maker{},
		towns: map[string]townRow{}, people: map[string]human{}, teams: map[string]team{}}
	for table, size := range sizes {
		t.names[table] = rows(salt, table, size[0]+scale*size[1])
	}
	draw := func(table, row, field string, low, high int) int {
		return world.Draw(salt, table+" "+row+" "+field, low, high)
	}
	one := func(table, row, of string) string { return world.Pick(salt, table+" "+row+" "+of, t.names[of]) }
	for _, n := range t.names["item"] {
		t.items[n] = item{draw("item", n, "price", 11, 99), draw("item", n, "weight", 110, 990), world.Pick(salt, "colour "+n, colours), one("item", n, "shelf"), one("item", n, "maker")}
	}
	for _, n := range t.names["shelf"] {
		t.shelf[n] = shelf{one("shelf", n, "room"), draw("shelf", n, "capacity", 20, 60)}
	}
	for i, n := range t.names["room"] {
		t.rooms[n] = roomRow{2 + 3*i + draw("room", n, "floor", 0, 2), one("room", n, "person")}
	}
	for _, n := range t.names["maker"] {
		t.makers[n] = maker{one("maker", n, "town"), draw("maker", n, "founded", 1801, 1989)}
	}
	for _, n := range t.names["town"] {
		t.towns[n] = townRow{world.Pick(salt, "region "+n, regions), draw("town", n, "distance", 12, 480)}
	}
	for i, n := range t.names["person"] {
		of := t.names["team"] // in turn, so that each has somebody
		t.people[n] = human{of[(i+draw("person", "", "turn", 0, 3))%len(of)], draw("person", n, "hours", 11, 60)}
	}
	for _, n := range t.names["team"] {
		t.teams[n] = team{one("team", n, "person"), draw("team", n, "budget", 120, 960)}
	}
	return t
}

// rows are the names of so many rows, which are drawn too.
func rows(salt, table string, n int) []string {
	base := world.Shuffle(salt, table+" names", names[table])
	out := make([]string, n)
	for i := range out {
		if out[i] = base[i%len(base)]; i >= len(base) {
			out[i] += strconv.Itoa(1 + i/len(base))
		}
	}
	return out
}
