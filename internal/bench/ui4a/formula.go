package ui4a

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
)

// Formula computes an arithmetic expression over named numbers: + - * / %, parentheses
// and the functions below. It is the oracle of what a card computes, so it shares nothing
// with any card.
func Formula(expression string, with map[string]float64) (float64, error) {
	e, err := parser.ParseExpr(expression)
	if err != nil {
		return 0, fmt.Errorf("formula %q: %w", expression, err)
	}
	v, err := value(e, with)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = fmt.Errorf("it gives %v", v)
	}
	if err != nil {
		return 0, fmt.Errorf("formula %q: %w", expression, err)
	}
	return v, nil
}

func value(e ast.Expr, with map[string]float64) (float64, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.ParseFloat(e.Value, 64)
	case *ast.Ident:
		if v, ok := with[e.Name]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("there is no %q", e.Name)
	case *ast.ParenExpr:
		return value(e.X, with)
	case *ast.UnaryExpr:
		v, err := value(e.X, with)
		if e.Op != token.SUB && err == nil {
			err = fmt.Errorf("there is no operator %v", e.Op)
		}
		return -v, err
	case *ast.BinaryExpr:
		return operate(e, with)
	case *ast.CallExpr:
		return call(e, with)
	}
	return 0, fmt.Errorf("%T has no value", e)
}

func operate(e *ast.BinaryExpr, with map[string]float64) (float64, error) {
	x, err := value(e.X, with)
	if err != nil {
		return 0, err
	}
	y, err := value(e.Y, with)
	if err != nil {
		return 0, err
	}
	switch e.Op {
	case token.ADD:
		return x + y, nil
	case token.SUB:
		return x - y, nil
	case token.MUL:
		return x * y, nil
	case token.QUO:
		return x / y, nil
	case token.REM:
		return math.Mod(x, y), nil
	}
	return 0, fmt.Errorf("there is no operator %v", e.Op)
}

func call(e *ast.CallExpr, with map[string]float64) (float64, error) {
	name, _ := e.Fun.(*ast.Ident)
	if name == nil {
		return 0, fmt.Errorf("only functions can be called")
	}
	var x []float64
	for _, a := range e.Args {
		v, err := value(a, with)
		if err != nil {
			return 0, err
		}
		x = append(x, v)
	}
	f, ok := functions[name.Name]
	if !ok {
		return 0, fmt.Errorf("there is no function %q; there are round(x, decimals), floor, ceil, abs, sqrt, ln, exp, pow, min, max", name.Name)
	}
	if len(x) < f.least || len(x) > f.most {
		return 0, fmt.Errorf("%s takes %d to %d numbers", name.Name, f.least, f.most)
	}
	return f.of(x), nil
}

// functions are what a formula may call. Halves round away from zero, as on paper.
var functions = map[string]struct {
	least, most int
	of          func([]float64) float64
}{
	"round": {1, 2, func(x []float64) float64 {
		p := 1.0
		if len(x) == 2 {
			p = math.Pow(10, x[1])
		}
		return math.Round(x[0]*p) / p
	}},
	"floor": {1, 1, func(x []float64) float64 { return math.Floor(x[0]) }},
	"ceil":  {1, 1, func(x []float64) float64 { return math.Ceil(x[0]) }},
	"abs":   {1, 1, func(x []float64) float64 { return math.Abs(x[0]) }},
	"sqrt":  {1, 1, func(x []float64) float64 { return math.Sqrt(x[0]) }},
	"ln":    {1, 1, func(x []float64) float64 { return math.Log(x[0]) }},
	"exp":   {1, 1, func(x []float64) float64 { return math.Exp(x[0]) }},
	"pow":   {2, 2, func(x []float64) float64 { return math.Pow(x[0], x[1]) }},
	"min":   {1, 16, func(x []float64) float64 { return fold(x, math.Min) }},
	"max":   {1, 16, func(x []float64) float64 { return fold(x, math.Max) }},
}

func fold(x []float64, f func(a, b float64) float64) float64 {
	v := x[0]
	for _, y := range x[1:] {
		v = f(v, y)
	}
	return v
}
