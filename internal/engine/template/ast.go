package template

// stmt is a piece of a template that writes or changes something.
type stmt interface{ exec(m *machine) signal }

// expr is a piece that has a value.
type expr interface{ eval(m *machine) value }

// signal tells a loop what a statement asks for.
type signal uint8

const (
	goOn signal = iota
	breakLoop
	continueLoop
)

type (
	textStmt struct{ s text }
	showStmt struct {
		line int
		x    expr
	}
	ifStmt struct {
		line       int
		cond       expr
		then, alts []stmt
	}
	forStmt struct {
		line       int
		target     expr // name or tuple of targets
		over       expr
		filter     expr // nil: every item
		body, alts []stmt
	}
	setStmt struct {
		line   int
		target expr
		x      expr
	}
	setBlock struct {
		line    int
		target  expr
		filters []*filterExpr
		body    []stmt
	}
	filterBlock struct {
		line    int
		filters []*filterExpr
		body    []stmt
	}
	macroStmt struct {
		line     int
		name     string
		params   []string
		defaults []expr // of the last len(defaults) params
		body     []stmt
	}
	callBlock struct {
		line   int
		call   *callExpr
		caller *macroStmt
	}
	scopeStmt struct { // {% generation %} and {% with %}
		line  int
		names []string
		inits []expr
		body  []stmt
	}
	jumpStmt struct{ sig signal }
)

type (
	litExpr  struct{ v value }
	nameExpr struct{ name string }
	listExpr struct {
		items []expr
		tuple bool
	}
	dictExpr struct{ keys, vals []expr }
	attrExpr struct {
		x    expr
		name string
	}
	indexExpr struct{ x, i expr }
	sliceExpr struct{ x, lo, hi, step expr } // nil: left out
	callExpr  struct {
		fn   expr
		args []expr
		keys []string
		vals []expr
	}
	filterExpr struct {
		x    expr // nil inside filter blocks
		name string
		callExpr
	}
	testExpr struct {
		x    expr
		name string
		args []expr
	}
	notExpr   struct{ x expr }
	signExpr  struct{ x expr } // arithmetic minus
	plusExpr  struct{ x expr }
	logicExpr struct {
		or   bool
		l, r expr
	}
	binaryExpr struct {
		op   string
		l, r expr
	}
	compareExpr struct {
		first expr
		ops   []string
		rest  []expr
	}
	condExpr struct{ cond, then, alt expr } // alt nil: undefined
)
