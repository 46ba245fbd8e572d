package flow

import "fmt"

// window is what a question is about.
type window struct {
	region, genre string
	branch, title string
	first, last   int
}

// Bounds that some questions have follow from the window's days.
func (w window) hours() int { return 18 + w.first%30 }
func (w window) price() int { return 500 + 17*w.first }
func (w window) wear() int  { return 2 + w.last%7 }

// counted is a world that counts the calls of a solution.
type counted struct {
	w     *world
	calls int
}

// ask calls a tool; a reference solution asks for nothing that is not there.
func ask[T any](c *counted, name string, a args) T {
	c.calls++
	for _, f := range functions {
		if f.name == name {
			v, ok := f.do(c.w, a)
			if !ok {
				panic("flow: a reference solution of " + name + " asks for what is not there")
			}
			return v.(T)
		}
	}
	panic("flow: there is no tool " + name)
}

func (c *counted) branch(s string) branch { return ask[branch](c, "get_branch", args{Branch: s}) }
func (c *counted) title(s string) title   { return ask[title](c, "get_title", args{Title: s}) }
func (c *counted) volume(s string) volume { return ask[volume](c, "get_copy", args{Copy: s}) }
func (c *counted) member(s string) member { return ask[member](c, "get_member", args{Member: s}) }
func (c *counted) plan(s string) plan     { return ask[plan](c, "get_plan", args{Plan: s}) }
func (c *counted) loan(s string) loan     { return ask[loan](c, "get_loan", args{Loan: s}) }
func (c *counted) transfer(s string) transfer {
	return ask[transfer](c, "get_transfer", args{Moved: s})
}
func (c *counted) branches(r string) []string {
	return ask[[]string](c, "list_branches", args{Region: r})
}
func (c *counted) titles(g string) []string { return ask[[]string](c, "list_titles", args{Genre: g}) }
func (c *counted) copiesAt(b string) []string {
	return ask[[]string](c, "list_copies_at", args{Branch: b})
}
func (c *counted) copiesOf(t string) []string {
	return ask[[]string](c, "list_copies_of", args{Title: t})
}
func (c *counted) loans(b string, w window) []string {
	return ask[[]string](c, "list_loans", args{Branch: b, First: w.first, Last: w.last})
}
func (c *counted) loansOf(v string, w window) []string {
	return ask[[]string](c, "list_loans_of_copy", args{Copy: v, First: w.first, Last: w.last})
}
func (c *counted) transfers(b string, w window) []string {
	return ask[[]string](c, "list_transfers", args{Branch: b, First: w.first, Last: w.last})
}

// fee is what a loan costs under its member's plan.
func (c *counted) fee(l loan) int {
	p := c.plan(c.member(l.Member).Plan)
	return min(max(0, l.Days-p.Free)*p.Fee, p.Cap)
}

// family is a kind of question. Depth is the longest chain of calls of which each needs
// the one before; calls bounds how many the reference solution makes.
type family struct {
	name     string
	depth    int
	min, max int // calls
	held     bool
	ask      func(window) string
	solve    func(*counted, window) int
}

const feeRule = " The fee of a loan is the fee per day of its member's plan for each day kept beyond the free days, and at most the plan's cap."

// families are the kinds of questions. Those that are held belong to the held-out split.
var families = []family{
	{"title_price", 1, 1, 1, false, func(w window) string { return fmt.Sprintf("What is the price in cents of title %s?", w.title) },
		func(c *counted, w window) int { return c.title(w.title).Price }},
	{"branch_hours", 1, 1, 1, true, func(w window) string { return fmt.Sprintf("How many hours a week is branch %s open?", w.branch) },
		func(c *counted, w window) int { return c.branch(w.branch).Hours }},
	{"region_staff", 2, 5, 12, false, func(w window) string {
		return fmt.Sprintf("How many staff do those branches in the region %s have together that are open for at least %d hours a week?", w.region, w.hours())
	}, func(c *counted, w window) int {
		return sum(c.branches(w.region), func(s string) int { b := c.branch(s); return b.Staff * one(b.Hours >= w.hours()) })
	}},
	{"genre_pages", 2, 6, 40, true, func(w window) string {
		return fmt.Sprintf("How many pages do those titles of the genre %s have together that cost at least %d cents?", w.genre, w.price())
	}, func(c *counted, w window) int {
		return sum(c.titles(w.genre), func(s string) int { t := c.title(s); return t.Pages * one(t.Price >= w.price()) })
	}},
	{"shelf_value", 3, 7, 40, false, func(w window) string {
		return fmt.Sprintf("What is the sum of the prices in cents of all copies that branch %s owns? Each copy counts with the price of its title.", w.branch)
	}, func(c *counted, w window) int {
		return sum(c.copiesAt(w.branch), func(v string) int { return c.title(c.volume(v).Title).Price })
	}},
	{"worn_copies", 3, 12, 80, false, func(w window) string {
		return fmt.Sprintf("How many copies with a wear of %d or more do the branches in the region %s own?", w.wear(), w.region)
	}, func(c *counted, w window) int {
		return sum(c.branches(w.region), func(b string) int {
			return sum(c.copiesAt(b), func(v string) int { return one(c.volume(v).Wear >= w.wear()) })
		})
	}},
	{"loan_days", 3, 3, 60, true, func(w window) string {
		return fmt.Sprintf("For how many days altogether were the copies of title %s lent, counting the loans that began from day %d to day %d?", w.title, w.first, w.last)
	}, func(c *counted, w window) int {
		return sum(c.copiesOf(w.title), func(v string) int {
			return sum(c.loansOf(v, w), func(l string) int { return c.loan(l).Days })
		})
	}},
	{"genre_loan_days", 4, 7, 80, false, func(w window) string {
		return fmt.Sprintf("Take the loans of the copies of branch %s that began from day %d to day %d and whose title is of the genre %s. For how many days were they kept altogether?", w.branch, w.first, w.last, w.genre)
	}, func(c *counted, w window) int {
		return sum(c.loans(w.branch, w), func(s string) int {
			l := c.loan(s)
			return l.Days * one(c.title(c.volume(l.Copy).Title).Genre == w.genre)
		})
	}},
	{"branch_fees", 4, 7, 80, false, func(w window) string {
		return fmt.Sprintf("What do the loans of the copies of branch %s that began from day %d to day %d cost in fees, in cents?", w.branch, w.first, w.last) + feeRule
	}, func(c *counted, w window) int {
		return sum(c.loans(w.branch, w), func(s string) int { return c.fee(c.loan(s)) })
	}},
	{"freight_share", 4, 7, 80, true, func(w window) string {
		return fmt.Sprintf("For the transfers that left branch %s from day %d to day %d, add up the cost in cents and the prices in cents of the moved copies' titles. Give the first sum times 1000 divided by the second, rounded down; 0 if there are none.", w.branch, w.first, w.last)
	}, func(c *counted, w window) int {
		cost, price := 0, 0
		for _, s := range c.transfers(w.branch, w) {
			x := c.transfer(s)
			cost, price = cost+x.Cost, price+c.title(c.volume(x.Copy).Title).Price
		}
		if price == 0 {
			return 0
		}
		return cost * 1000 / price
	}},
	{"region_fees", 5, 12, 80, false, func(w window) string {
		return fmt.Sprintf("What do the loans of the copies of all branches in the region %s that began from day %d to day %d cost in fees, in cents?", w.region, w.first, w.last) + feeRule
	}, func(c *counted, w window) int {
		return sum(c.branches(w.region), func(b string) int {
			return sum(c.loans(b, w), func(s string) int { return c.fee(c.loan(s)) })
		})
	}},
	{"visitors", 5, 12, 80, true, func(w window) string {
		return fmt.Sprintf("Of the loans of the copies of all branches in the region %s that began from day %d to day %d, how many were to members whose home branch lies in another region?", w.region, w.first, w.last)
	}, func(c *counted, w window) int {
		return sum(c.branches(w.region), func(b string) int {
			return sum(c.loans(b, w), func(s string) int { return one(c.branch(c.member(c.loan(s).Member).Home).Region != w.region) })
		})
	}},
	{"genre_fees", 6, 12, 80, false, func(w window) string {
		return fmt.Sprintf("What do the loans of all copies of all titles of the genre %s that began from day %d to day %d cost in fees, in cents?", w.genre, w.first, w.last) + feeRule
	}, func(c *counted, w window) int {
		return sum(c.titles(w.genre), func(t string) int {
			return sum(c.copiesOf(t), func(v string) int {
				return sum(c.loansOf(v, w), func(s string) int { return c.fee(c.loan(s)) })
			})
		})
	}},
	{"moved_and_lent", 6, 12, 80, true, func(w window) string {
		return fmt.Sprintf("Take the transfers that left the branches in the region %s from day %d to day %d. For each of them take the loans of the moved copy that began in the same days. For how many days were those of these loans kept altogether that are to members with the plan %s? A copy that was moved twice counts twice.", w.region, w.first, w.last, plans[w.first%len(plans)])
	}, func(c *counted, w window) int {
		return sum(c.branches(w.region), func(b string) int {
			return sum(c.transfers(b, w), func(x string) int {
				return sum(c.loansOf(c.transfer(x).Copy, w), func(s string) int {
					l := c.loan(s)
					return l.Days * one(c.member(l.Member).Plan == plans[w.first%len(plans)])
				})
			})
		})
	}},
}

func sum[T any](list []T, f func(T) int) int {
	n := 0
	for _, v := range list {
		n += f(v)
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
