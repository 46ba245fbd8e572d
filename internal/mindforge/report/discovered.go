package report

import (
	"maps"
	"slices"

	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/stat"
)

// Discovered is what a search for tasks found, with the rates that follow from its counts. An
// entry made of what "discovery" names the account.
type Discovered struct {
	Generation int `json:"generation"`
	discovery.Told
	Considered int       `json:"considered"`
	Valid      stat.Rate `json:"valid"`      // of those considered: well-formed, sound, solved by its solution and by no wrong one
	Duplicates stat.Rate `json:"duplicates"` // of the valid: the same problem, or the same words
	Novel      stat.Rate `json:"novel"`      // of the valid: neither
	Frontier   stat.Rate `json:"frontier"`   // of those that were tried: solved now and then
}

// Reasons of refusals, by what they speak against.
var (
	invalid = []discovery.Reason{discovery.Malformed, discovery.Unknown, discovery.TooLong, discovery.Leak, discovery.NoFailing, discovery.Insecure, discovery.Unsolvable,
		discovery.Flaky, discovery.Unconsented, discovery.Unfinished, discovery.Unverified, discovery.Unreplayed, discovery.Screened}
	duplicate = []discovery.Reason{discovery.Repeated, discovery.Alike}
	tried     = []discovery.Reason{discovery.TooEasy, discovery.TooHard, discovery.Unsolved}
)

func discovered(generation int, d discovery.Told) Discovered {
	count := func(names []discovery.Reason) (n int) {
		for _, name := range names {
			n += d.Refused[name]
		}
		return n
	}
	all := d.Kept + count(slices.Collect(maps.Keys(d.Refused)))
	valid, same := all-count(invalid), count(duplicate)
	return Discovered{generation, d, all, stat.NewRate(valid, all), stat.NewRate(same, valid), stat.NewRate(valid-same, valid),
		stat.NewRate(d.Classes[discovery.Frontier], d.Kept+count(tried))}
}

// WorkedOn are the tasks that a generation works on.
type WorkedOn struct {
	Generation int `json:"generation"`
	Tasks      int `json:"tasks"`
	Families   int `json:"families"`
	Never      int `json:"never_solved"` // by the champion
}
