package compose

import "macaron/internal/mindforge/world"

type draft = world.Draft[*tables]

// of draws a row that the request names.
func of(d *draft, noun, table string) string { return d.Slot(noun, d.State.names[table]) }

// families are the kinds of questions. Each has other tools, or another flow of data, than
// all others.
var families = []world.Family[*tables]{
	{Name: "item_price", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("What is the price of the %s?", i)
		d.Answer(d.Call("price_of", "item", i), number)
	}},
	{Name: "person_hours", Build: func(d *draft) {
		p := of(d, "person", "person")
		d.Ask("How many hours does %s work?", p)
		d.Answer(d.Call("hours_of", "person", p), number)
	}},
	{Name: "item_room", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("In which room is the shelf of the %s?", i)
		d.Answer(d.Call("room_of", "shelf", d.Call("shelf_of", "item", i)), room)
	}},
	{Name: "item_town", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("In which town is the maker of the %s?", i)
		d.Answer(d.Call("town_of", "maker", d.Call("maker_of", "item", i)), town)
	}},
	{Name: "guard_team", Build: func(d *draft) {
		r := of(d, "room", "room")
		d.Ask("Which team has the person who guards the %s?", r)
		d.Answer(d.Call("team_of", "person", d.Call("guard_of", "room", r)), word)
	}},
	{Name: "lead_hours", Build: func(d *draft) {
		p := of(d, "person", "person")
		d.Ask("How many hours does the lead of the team of %s work?", p)
		d.Answer(d.Call("hours_of", "person", d.Call("lead_of", "team", d.Call("team_of", "person", p))), number)
	}},
	{Name: "item_region", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("In which region is the town of the maker of the %s?", i)
		d.Answer(d.Call("region_of", "town", d.Call("town_of", "maker", d.Call("maker_of", "item", i))), word)
	}},
	{Name: "price_sum", Build: func(d *draft) {
		a, b := of(d, "first item", "item"), of(d, "second item", "item")
		d.Ask("What do the %s and the %s cost together?", a, b)
		d.Answer(d.Call("add", "a", d.Call("price_of", "item", a), "b", d.Call("price_of", "item", b)), number)
	}},
	{Name: "weight_gap", Build: func(d *draft) {
		a, b := of(d, "first item", "item"), of(d, "second item", "item")
		d.Ask("Take the weight of the %s and subtract the weight of the %s. What is left?", a, b)
		d.Answer(d.Call("subtract", "a", d.Call("weight_of", "item", a), "b", d.Call("weight_of", "item", b)), number)
	}},
	{Name: "busier", Build: func(d *draft) {
		a, b := of(d, "first person", "person"), of(d, "second person", "person")
		d.Ask("Compare the hours of %s and of %s. What is the larger number?", a, b)
		d.Answer(d.Call("larger", "a", d.Call("hours_of", "person", a), "b", d.Call("hours_of", "person", b)), number)
	}},
	{Name: "shelf_count", Build: func(d *draft) {
		s := of(d, "shelf", "shelf")
		d.Ask("How many items are on the shelf %s?", s)
		d.Answer(d.Call("length_of", "list", d.Call("items_on", "shelf", s)), number)
	}},
	{Name: "shelf_value", Build: func(d *draft) {
		s := of(d, "shelf", "shelf")
		d.Ask("What do all items on the shelf %s cost together?", s)
		d.Answer(d.Call("total_price", "list", d.Call("items_on", "shelf", s)), number)
	}},
	{Name: "first_hours", Build: func(d *draft) {
		g := of(d, "team", "team")
		d.Ask("How many hours does the first person of the team %s work?", g)
		d.Answer(d.Call("hours_of", "person", d.Call("first_of", "list", d.Call("people_in", "team", g))), number)
	}},
	{Name: "last_founded", Build: func(d *draft) {
		t := of(d, "town", "town")
		d.Ask("In which year did the last maker in %s begin?", t)
		d.Answer(d.Call("founded_of", "maker", d.Call("last_of", "list", d.Call("makers_in", "town", t))), number)
	}},
	{Name: "maker_age", Build: func(d *draft) {
		i, year := of(d, "item", "item"), d.Int("year", 1990, 2029)
		d.Ask("How old was the maker of the %s in the year %d? Subtract the year of its beginning.", i, year)
		d.Answer(d.Call("subtract", "a", year, "b", d.Call("founded_of", "maker", d.Call("maker_of", "item", i))), number)
	}},
	{Name: "round_trip", Build: func(d *draft) {
		m := of(d, "maker", "maker")
		d.Ask("How many kilometres is it to the town of %s and back?", m)
		d.Answer(d.Call("multiply", "a", d.Call("distance_to", "town", d.Call("town_of", "maker", m)), "b", 2), number)
	}},
	{Name: "colour_letters", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("How many letters has the colour of the %s?", i)
		d.Answer(d.Call("letters_in", "word", d.Call("colour_of", "item", i)), number)
	}},
	{Name: "spare_places", Build: func(d *draft) {
		s := of(d, "shelf", "shelf")
		d.Ask("How many more items would the shelf %s hold than are on it?", s)
		most := d.Call("capacity_of", "shelf", s)
		d.Answer(d.Call("subtract", "a", most, "b", d.Call("length_of", "list", d.Call("items_on", "shelf", s))), number)
	}},
	{Name: "budget_share", Build: func(d *draft) {
		g := of(d, "team", "team")
		d.Ask("The budget of the team %s is divided among its people. How much has each, rounded down?", g)
		all := d.Call("budget_of", "team", g)
		d.Answer(d.Call("divide", "a", all, "b", d.Call("length_of", "list", d.Call("people_in", "team", g))), number)
	}},
	{Name: "count_gap", Build: func(d *draft) {
		a, b := of(d, "first town", "town"), of(d, "second town", "town")
		d.Ask("Add the number of makers in %s and the number of makers in %s.", a, b)
		n := d.Call("length_of", "list", d.Call("makers_in", "town", a))
		d.Answer(d.Call("add", "a", n, "b", d.Call("length_of", "list", d.Call("makers_in", "town", b))), number)
	}},
	{Name: "floor_gap", Build: func(d *draft) {
		a, b := of(d, "first item", "item"), of(d, "second item", "item")
		d.Ask("Take the floor of the room of the shelf of the %s and multiply it by the floor of the room of the shelf of the %s.", a, b)
		floor := func(i string) world.Value {
			return d.Call("floor_of", "room", d.Call("room_of", "shelf", d.Call("shelf_of", "item", i)))
		}
		x := floor(a)
		d.Answer(d.Call("multiply", "a", x, "b", floor(b)), number)
	}},
	{Name: "guard_boss", Build: func(d *draft) {
		i := of(d, "item", "item")
		d.Ask("Who leads the team of the person who guards the room of the shelf of the %s?", i)
		g := d.Call("guard_of", "room", d.Call("room_of", "shelf", d.Call("shelf_of", "item", i)))
		d.Answer(d.Call("lead_of", "team", d.Call("team_of", "person", g)), person)
	}},
}

// tails go on with an answer. A number stays one, and bounded.
var tails = []world.Tail[*tables]{
	{From: number, Then: func(d *draft, v world.Value, key string) {
		n := d.Int(key+" n", 3, 40)
		d.Ask("Then add %d.", n)
		d.Answer(d.Call("add", "a", v, "b", n), number)
	}},
	{From: number, Then: func(d *draft, v world.Value, key string) {
		n := d.Int(key+" n", 101, 211)
		d.Ask("Then compare it with %d and take the larger number, and add 5 to it.", n)
		d.Answer(d.Call("add", "a", d.Call("larger", "a", v, "b", n), "b", 5), number)
	}},
	{From: number, Then: func(d *draft, v world.Value, key string) {
		p := d.Pick(key+" person", d.State.names["person"])
		d.Ask("Then add the hours that %s works.", p)
		d.Answer(d.Call("add", "a", v, "b", d.Call("hours_of", "person", p)), number)
	}},
	{From: number, Then: func(d *draft, v world.Value, key string) {
		t := d.Pick(key+" town", d.State.names["town"])
		d.Ask("Then subtract it from the distance to %s in metres, which is 1000 times the kilometres.", t)
		d.Answer(d.Call("subtract", "a", d.Call("multiply", "a", d.Call("distance_to", "town", t), "b", 1000), "b", v), number)
	}},
	{From: word, Then: func(d *draft, v world.Value, key string) {
		n := d.Int(key+" n", 20, 90)
		d.Ask("Take the number of its letters and add %d.", n)
		d.Answer(d.Call("add", "a", d.Call("letters_in", "word", v), "b", n), number)
	}},
	{From: town, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then say how far it is to that town.")
		d.Answer(d.Call("distance_to", "town", v), number)
	}},
	{From: town, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then say in which region that town is.")
		d.Answer(d.Call("region_of", "town", v), word)
	}},
	{From: person, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then say how many hours that person works.")
		d.Answer(d.Call("hours_of", "person", v), number)
	}},
	{From: room, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then say who guards that room.")
		d.Answer(d.Call("guard_of", "room", v), person)
	}},
	{From: room, Then: func(d *draft, v world.Value, _ string) {
		d.Ask("Then say on which floor that room is.")
		d.Answer(d.Call("floor_of", "room", v), number)
	}},
}
