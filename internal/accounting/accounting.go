// Package accounting compares one base with adapters against as many merged copies of
// the base, in parameters and bytes. It is arithmetic only.
package accounting

// Amount is parameters, bytes on disk and bytes in memory.
type Amount struct {
	Params   int64 `json:"params"`
	Stored   int64 `json:"stored_bytes"`
	Resident int64 `json:"resident_bytes"`
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Params + b.Params, a.Stored + b.Stored, a.Resident + b.Resident}
}

func (a Amount) times(n int64) Amount {
	return Amount{a.Params * n, a.Stored * n, a.Resident * n}
}

// Part is the base or one adapter.
type Part struct {
	Name string `json:"name"`
	Amount
}

// Report is what a set of adapters takes, next to what it would take as models of
// their own.
type Report struct {
	Base     Part   `json:"base"`
	Adapters []Part `json:"adapters"`
	// Together is the base once and every adapter: stored, and resident while all are served.
	Together Amount `json:"together"`
	// Merged is as many copies of the base as there are adapters, each with one merged in.
	Merged Amount `json:"merged"`
	// Active is what one token passes through: the base and the largest adapter.
	Active int64 `json:"active_params"`
	// ActiveMerged is that of a merged copy, which is as large as the base.
	ActiveMerged int64  `json:"active_params_merged"`
	Saved        Saving `json:"change_percent"`
}

// Saving is the change from Merged to Together, in percent; negative is less.
type Saving struct {
	Params   float64 `json:"params"`
	Stored   float64 `json:"stored_bytes"`
	Resident float64 `json:"resident_bytes"`
}

// Compare makes the report.
func Compare(base Part, adapters []Part) Report {
	r := Report{Base: base, Adapters: adapters, Together: base.Amount, Merged: base.times(int64(len(adapters))), ActiveMerged: base.Params}
	largest := int64(0)
	for _, a := range adapters {
		r.Together = r.Together.plus(a.Amount)
		largest = max(largest, a.Params)
	}
	r.Active = base.Params + largest
	r.Saved = Saving{percent(r.Together.Params, r.Merged.Params), percent(r.Together.Stored, r.Merged.Stored), percent(r.Together.Resident, r.Merged.Resident)}
	return r
}

// percent is the change from b to a; 0 when there is nothing to compare with.
func percent(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return 100 * (float64(a) - float64(b)) / float64(b)
}
