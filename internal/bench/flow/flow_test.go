package flow

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/tool"
	"macaron/internal/tool/gate"
)

// scan answers each family's question again, from the tables and in another way: whole
// tables are gone through, from the end of the chain.
var scan = map[string]func(w *world, q window) int{
	"title_price":  func(w *world, q window) int { return w.titles[number(q.title)].Price },
	"branch_hours": func(w *world, q window) int { return w.branches[number(q.branch)].Hours },
	"region_staff": func(w *world, q window) (n int) {
		for _, b := range w.branches {
			if b.Region == q.region && b.Hours >= q.hours() {
				n += b.Staff
			}
		}
		return n
	},
	"genre_pages": func(w *world, q window) (n int) {
		for _, t := range w.titles {
			if t.Genre == q.genre && t.Price >= q.price() {
				n += t.Pages
			}
		}
		return n
	},
	"shelf_value": func(w *world, q window) (n int) {
		for _, c := range w.copies {
			if c.Branch == q.branch {
				n += w.titles[number(c.Title)].Price
			}
		}
		return n
	},
	"worn_copies": func(w *world, q window) (n int) {
		for _, c := range w.copies {
			if w.branches[number(c.Branch)].Region == q.region && c.Wear >= q.wear() {
				n++
			}
		}
		return n
	},
	"loan_days": each(func(w *world, q window, l loan, c volume) (int, bool) { return l.Days, c.Title == q.title }),
	"genre_loan_days": each(func(w *world, q window, l loan, c volume) (int, bool) {
		return l.Days, c.Branch == q.branch && w.titles[number(c.Title)].Genre == q.genre
	}),
	"branch_fees": each(func(w *world, q window, l loan, c volume) (int, bool) { return w.cost(l), c.Branch == q.branch }),
	"region_fees": each(func(w *world, q window, l loan, c volume) (int, bool) {
		return w.cost(l), w.branches[number(c.Branch)].Region == q.region
	}),
	"genre_fees": each(func(w *world, q window, l loan, c volume) (int, bool) {
		return w.cost(l), w.titles[number(c.Title)].Genre == q.genre
	}),
	"visitors": each(func(w *world, q window, l loan, c volume) (int, bool) {
		home := w.members[number(l.Member)].Home
		return 1, w.branches[number(c.Branch)].Region == q.region && w.branches[number(home)].Region != q.region
	}),
	"freight_share": func(w *world, q window) int {
		cost, price := 0, 0
		for _, x := range w.transfers {
			if x.From == q.branch && x.Day >= q.first && x.Day <= q.last {
				cost += x.Cost
				price += w.titles[number(w.copies[number(x.Copy)].Title)].Price
			}
		}
		return cost * 1000 / max(price, 1)
	},
	"moved_and_lent": func(w *world, q window) int {
		return each(func(w *world, q window, l loan, _ volume) (int, bool) {
			moved := 0
			for _, x := range w.transfers {
				if x.Copy == l.Copy && w.branches[number(x.From)].Region == q.region && x.Day >= q.first && x.Day <= q.last {
					moved++
				}
			}
			return moved * l.Days, w.members[number(l.Member)].Plan == plans[q.first%4]
		})(w, q)
	},
}

func number(s string) int { n, _ := strconv.Atoi(s[1:]); return n }

// each adds up what the loans of the window count.
func each(count func(*world, window, loan, volume) (int, bool)) func(*world, window) int {
	return func(w *world, q window) (sum int) {
		for _, l := range w.loans {
			if l.Day < q.first || l.Day > q.last {
				continue
			}
			if n, ok := count(w, q, l, w.copies[number(l.Copy)]); ok {
				sum += n
			}
		}
		return sum
	}
}

func (w *world) cost(l loan) int {
	p := w.plans[slices.Index(plans, w.members[number(l.Member)].Plan)]
	if l.Days <= p.Free {
		return 0
	}
	return min(p.Cap, p.Fee*(l.Days-p.Free))
}

func TestLabelsHoldByTheTables(t *testing.T) {
	w, d := newWorld("scan"), drawer("scan")
	for _, f := range families {
		other := scan[f.name]
		seen := map[int]bool{}
		for n := range 40 {
			q := drawWindow(d, n)
			c := &counted{w: w}
			got, want := f.solve(c, q), other(w, q)
			if got != want {
				t.Errorf("%s: %d by the tools, %d by the tables, for %+v", f.name, got, want, q)
			}
			seen[got] = true
		}
		if len(seen) < 12 {
			t.Errorf("%s has %d different answers in 40 windows", f.name, len(seen))
		}
	}
}

func TestASaltMakesAWorld(t *testing.T) {
	a, b, c := Tasks("one", 6), Tasks("one", 6), Tasks("two", 6)
	splits, depths, fan := map[Split]int{}, map[int]int{}, map[string]int{}
	for i := range a {
		if a[i].Label != b[i].Label || a[i].Instruction != b[i].Instruction {
			t.Errorf("%s is not the same twice", a[i].ID)
		}
		splits[a[i].Split]++
		depths[a[i].Depth]++
		fan[a[i].Family] = max(fan[a[i].Family], a[i].Calls)
	}
	if cmp.Diff(a[0].w, c[0].w, cmp.AllowUnexported(world{})) == "" {
		t.Error("two salts make one world")
	}
	if len(families) < 12 || len(splits) != 4 || len(depths) != 6 {
		t.Errorf("%d families, splits %v, depths %v", len(families), splits, depths)
	}
	wide := 0
	for _, n := range fan {
		if n >= 10 && n <= 80 {
			wide++
		}
	}
	if wide < 8 {
		t.Errorf("calls by family: %v", fan)
	}
	held := map[string]bool{}
	for _, x := range a {
		if was, ok := held[x.Family]; ok && was != (x.Split == HeldOut || x.Split == NewFamily) {
			t.Errorf("the family %s is on both sides", x.Family)
		}
		held[x.Family] = x.Split == HeldOut || x.Split == NewFamily
	}
}

// unkept is a ledger that keeps nothing.
type unkept struct{}

func (unkept) Past(context.Context, tool.Call, tool.Def) (*tool.Result, error) { return nil, nil }
func (unkept) Begin(context.Context, tool.Call, tool.Def) error                { return nil }
func (unkept) End(context.Context, tool.Call, tool.Result) error               { return nil }

// Tools go through the gate as a run's do, refuse what is not there, and tell nothing of
// tables beyond the row or list asked for.
func TestToolsAnswerThroughTheGate(t *testing.T) {
	task := Tasks("gate", 1)[0]
	g, err := gate.New(gate.Options{Tools: task.Tools(), Ledger: unkept{}})
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		`get_title {"title":"t03"}`: `^{"genre":"[a-z]+","price_cents":\d+,"pages":\d+}$`, `list_branches {"region":"north"}`: `^\["b00","b04"`,
		`get_title {"title":"t99"}`: "no such title", `get_title {"title":3}`: "do not fit", `list_loans {"branch":"b01","first_day":5,"last_day":4}`: `^\[\]$`, `get_title {"title":"t3"}`: "no such title",
	} {
		name, arguments, _ := strings.Cut(call, " ")
		r, err := g.Invoke(context.Background(), tool.Call{ID: call, Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		got := string(r.Value)
		if r.Error != nil {
			got = r.Error.Message
		}
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	if len(g.Defs()) != len(functions) || len(slices.Collect(maps.Keys(scan))) != len(families) {
		t.Error("a tool or a scan is missing")
	}
}
