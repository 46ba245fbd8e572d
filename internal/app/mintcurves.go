package app

import (
	"net/http"
	"path/filepath"

	"macaron/internal/auth"
	"macaron/internal/train/curve"
	"macaron/internal/wire/curves"
)

// Curves are the files of a home that have what is measured of training runs.
func Curves(home string) curve.Runs { return curve.Runs{Dir: filepath.Join(home, "mint", "runs")} }

// trainingCurves shows them.
func (a *App) trainingCurves() http.Handler {
	return curves.Handler(curves.Deps{Lines: Curves(a.cfg.Home).Lines, Owner: auth.Owner, Fail: a.fail, Stop: a.stop.begun,
		Runs: func() (curves.Runs, error) {
			if s := a.mint.lists.Load(); s != nil {
				return *s, nil
			}
			if why := a.mint.why.Load(); why != nil {
				return nil, *why
			}
			return nil, beingLoaded()
		}})
}
