package compose

import (
	"fmt"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
)

type function = world.Function[*tables]

type param = world.Param[*tables]

// functions are the tools: one field of one row, the rows that belong to another, and what
// reduces lists and numbers.
var functions = []function{
	look("price_of", "Price of an item in euros.", "item", func(t *tables, n string) any { return t.items[n].price }),
	look("weight_of", "Weight of an item in grams.", "item", func(t *tables, n string) any { return t.items[n].weight }),
	look("colour_of", "Colour of an item.", "item", func(t *tables, n string) any { return t.items[n].colour }),
	look("shelf_of", "Shelf that an item lies on.", "item", func(t *tables, n string) any { return t.items[n].shelf }),
	look("maker_of", "Maker of an item.", "item", func(t *tables, n string) any { return t.items[n].maker }),
	look("room_of", "Room that a shelf stands in.", "shelf", func(t *tables, n string) any { return t.shelf[n].room }),
	look("capacity_of", "How many items a shelf holds at most.", "shelf", func(t *tables, n string) any { return t.shelf[n].capacity }),
	look("floor_of", "Floor that a room is on.", "room", func(t *tables, n string) any { return t.rooms[n].floor }),
	look("guard_of", "Person who guards a room.", "room", func(t *tables, n string) any { return t.rooms[n].guard }),
	look("town_of", "Town of a maker.", "maker", func(t *tables, n string) any { return t.makers[n].town }),
	look("founded_of", "Year in which a maker began.", "maker", func(t *tables, n string) any { return t.makers[n].founded }),
	look("region_of", "Region of a town.", "town", func(t *tables, n string) any { return t.towns[n].region }),
	look("distance_to", "Distance to a town in kilometres.", "town", func(t *tables, n string) any { return t.towns[n].distance }),
	look("team_of", "Team of a person.", "person", func(t *tables, n string) any { return t.people[n].team }),
	look("hours_of", "Hours that a person works.", "person", func(t *tables, n string) any { return t.people[n].hours }),
	look("lead_of", "Person who leads a team.", "team", func(t *tables, n string) any { return t.teams[n].lead }),
	look("budget_of", "Budget of a team in euros.", "team", func(t *tables, n string) any { return t.teams[n].budget }),
	look("items_on", "Items on a shelf, as a list.", "shelf", func(t *tables, n string) any {
		return t.list("item", func(i string) bool { return t.items[i].shelf == n })
	}),
	look("people_in", "People of a team, as a list.", "team", func(t *tables, n string) any {
		return t.list("person", func(i string) bool { return t.people[i].team == n })
	}),
	look("makers_in", "Makers in a town, as a list.", "town", func(t *tables, n string) any {
		return t.list("maker", func(i string) bool { return t.makers[i].town == n })
	}),
	reduce("length_of", "How many entries a list has.", func(_ *tables, l []string) (string, error) { return strconv.Itoa(len(l)), nil }),
	reduce("first_of", "First entry of a list.", func(_ *tables, l []string) (string, error) { return l[0], nil }),
	reduce("last_of", "Last entry of a list.", func(_ *tables, l []string) (string, error) { return l[len(l)-1], nil }),
	reduce("total_price", "Sum of the prices of a list of items.", func(t *tables, l []string) (string, error) {
		sum := 0
		for _, n := range l {
			i, ok := t.items[n]
			if !ok {
				return "", errs.New(errs.NotFound, "there is no item "+errs.Clip(n), "")
			}
			sum += i.price
		}
		return strconv.Itoa(sum), nil
	}),
	compute("add", "a plus b.", func(a, b int) (int, bool) { return a + b, true }),
	compute("subtract", "a minus b.", func(a, b int) (int, bool) { return a - b, true }),
	compute("multiply", "a times b.", func(a, b int) (int, bool) { return a * b, true }),
	compute("divide", "a divided by b, rounded down.", func(a, b int) (int, bool) { return a / max(b, 1), a >= 0 && b > 0 }),
	compute("remainder", "What is left of a divided by b.", func(a, b int) (int, bool) { return a % max(b, 1), a >= 0 && b > 0 }),
	compute("larger", "The larger one of a and b.", func(a, b int) (int, bool) { return max(a, b), true }),
	{Name: "letters_in", About: "How many letters a word has.", Params: []param{{Name: "word"}}, Effect: tool.Pure, Do: func(_ *tables, a map[string]string) (string, error) {
		return strconv.Itoa(len([]rune(strings.TrimSpace(a["word"])))), nil
	}},
}

// look is a function of a row's name.
func look(name, about, table string, get func(t *tables, row string) any) function {
	rows := func(t *tables) []string { return t.names[table] }
	return function{Name: name, About: about, Params: []param{{Name: table, Enum: rows}}, Effect: tool.Read, Do: func(t *tables, a map[string]string) (string, error) {
		switch v := get(t, a[table]).(type) {
		case int:
			return strconv.Itoa(v), nil
		case []string:
			return strings.Join(v, ", "), nil
		default:
			return fmt.Sprint(v), nil
		}
	}}
}

func (t *tables) list(table string, fits func(row string) bool) []string {
	out := []string{}
	for _, n := range t.names[table] {
		if fits(n) {
			out = append(out, n)
		}
	}
	return out
}

// reduce is a function of a list that is not empty.
func reduce(name, about string, do func(t *tables, list []string) (string, error)) function {
	return function{Name: name, About: about, Params: []param{{Name: "list"}}, Effect: tool.Read, Do: func(t *tables, a map[string]string) (string, error) {
		var list []string
		for _, e := range strings.Split(a["list"], ",") {
			if e = strings.TrimSpace(e); e != "" {
				list = append(list, e)
			}
		}
		if len(list) == 0 {
			return "", errs.New(errs.InvalidRequest, "the list is empty", "give its entries with commas between them")
		}
		return do(t, list)
	}}
}

// compute is a function of two whole numbers.
func compute(name, about string, do func(a, b int) (int, bool)) function {
	return function{Name: name, About: about, Params: []param{{Name: "a", Number: true}, {Name: "b", Number: true}}, Effect: tool.Pure, Do: func(_ *tables, x map[string]string) (string, error) {
		a, b := world.Whole(x["a"]), world.Whole(x["b"])
		const most = 1_000_000
		n, ok := do(a, b)
		if !ok || max(a, -a, b, -b, n, -n) > most*most {
			return "", errs.New(errs.InvalidRequest, "the numbers do not go with "+name, "")
		}
		return strconv.Itoa(n), nil
	}}
}
