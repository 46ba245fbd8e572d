package ui4a

import (
	"fmt"
	"math"
	"strconv"
)

// Bounds of the visual layer, in CSS pixels.
const (
	leastFont   = 12
	leastMedian = 14
	leastTarget = 24
	mostScreens = 2.5
	mostGap     = 0.4
)

func (e Evidence) visualChecks() []Check {
	l := e.Layout
	return []Check{
		check("fits", 25, finding(fmt.Sprintf("nothing lies beyond %d px", e.View.Width), e.Mounted && len(l.Overflow) == 0, first(l.Overflow))),
		check("legible", 20,
			finding("no text is cut off", e.Mounted && len(l.Clipped) == 0, first(l.Clipped)),
			finding("no text lies on text", e.Mounted && len(l.Overlaps) == 0, first(l.Overlaps))),
		check("contrast", 20, e.contrast("light"), e.contrast("dark")),
		check("type", 15,
			finding(fmt.Sprintf("no text below %d px", leastFont), e.Mounted && l.Fonts.Least >= leastFont-0.01, fmt.Sprintf("%.1f px: %s", l.Fonts.Least, l.Fonts.Where)),
			finding(fmt.Sprintf("half of the text has %d px or more", leastMedian), e.Mounted && l.Fonts.Median >= leastMedian-0.01, fmt.Sprintf("%.1f px", l.Fonts.Median))),
		check("targets", 10, e.targets()...),
		check("extent", 10,
			finding(fmt.Sprintf("at most %.1f screens high", mostScreens), e.Mounted && l.Height <= mostScreens*float64(e.View.Height), fmt.Sprintf("%.0f px", l.Height)),
			finding("no large empty part", e.Mounted && (l.Gap <= mostGap*l.Height || l.Gap < 200), fmt.Sprintf("%.0f of %.0f px", l.Gap, l.Height))),
	}
}

// contrast is AA by axe-core, in one theme.
func (e Evidence) contrast(theme string) Finding {
	what := "contrast, " + theme
	for _, v := range e.Axe {
		if v.ID == "color-contrast" && v.Theme == theme {
			return finding(what, false, v.Target)
		}
	}
	return finding(what, e.Mounted, "")
}

// targets: each control is large enough to be hit. 44 px are better; that is told, and
// not counted.
func (e Evidence) targets() []Finding {
	var found []Finding
	for _, w := range e.Start.Widgets {
		if w.Inline || w.Disabled {
			continue
		}
		width, height := math.Max(w.W, w.TargetW), math.Max(w.H, w.TargetH)
		found = append(found, finding(w.Role+" "+strconv.Quote(w.Name)+" can be hit", width >= leastTarget-0.5 && height >= leastTarget-0.5, fmt.Sprintf("%.0f x %.0f px", width, height)))
	}
	return found
}
