package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	"macaron/internal/store/logsql"
)

// pen is the writer's connection inside a transaction, as logsql uses it. It speaks to the
// driver itself and keeps every statement prepared: parsing was most of a write's cost.
// Statements are constant texts, so there is a bounded number of them. A connection is
// used by one goroutine, and ctx never ends: what was accepted is carried out.
type pen struct {
	conn     driver.ConnPrepareContext
	prepared map[string]driver.Stmt
	args     []driver.NamedValue // of the statement that runs
	last     int64               // row that the last statement inserted
}

var _ logsql.Writer = (*pen)(nil)

func newPen(conn any) (*pen, error) {
	c, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("the driver's connection %T prepares nothing", conn)
	}
	return &pen{conn: c, prepared: map[string]driver.Stmt{}}, nil
}

func (p *pen) stmt(ctx context.Context, query string) (driver.Stmt, error) {
	if s := p.prepared[query]; s != nil {
		return s, nil
	}
	s, err := p.conn.PrepareContext(ctx, query)
	if err == nil {
		p.prepared[query] = s
	}
	return s, err
}

// Exec implements logsql.Writer.
func (p *pen) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	if err := p.bind(args); err != nil {
		return 0, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(ctx, p.args)
	if err != nil {
		return 0, err
	}
	if p.last, err = r.LastInsertId(); err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Inserted implements logsql.Numbering.
func (p *pen) Inserted() int64 { return p.last }

// Query implements logsql.Writer.
func (p *pen) Query(ctx context.Context, each func(logsql.Row) error, query string, args ...any) (err error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return err
	}
	if err := p.bind(args); err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, p.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r := make(row, len(rows.Columns()))
	for {
		switch err := rows.Next(r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
}

// bind turns arguments into the driver's values.
func (p *pen) bind(args []any) error {
	p.args = p.args[:0]
	for i, a := range args {
		v := driver.NamedValue{Ordinal: i + 1, Value: a}
		switch a := a.(type) {
		case string, int64, []byte, nil:
		case int:
			v.Value = int64(a)
		case bool:
			v.Value = int64(0)
			if a {
				v.Value = int64(1)
			}
		default:
			var err error
			if v.Value, err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return err
			}
		}
		p.args = append(p.args, v)
	}
	return nil
}

func (p *pen) close() error {
	var err error
	for _, s := range p.prepared {
		err = errors.Join(err, s.Close())
	}
	clear(p.prepared)
	return err
}

// row is a row of the driver.
type row []driver.Value

// Scan implements logsql.Row.
func (r row) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("%d columns are read into %d places", len(r), len(dest))
	}
	for i, d := range dest {
		if err := scan(d, r[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func scan(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case *string:
		var s sql.Null[string]
		err := s.Scan(v)
		*d = s.V
		return err
	case *int64:
		var n sql.Null[int64]
		err := n.Scan(v)
		*d = n.V
		return err
	case *int:
		var n sql.Null[int]
		err := n.Scan(v)
		*d = n.V
		return err
	}
	to := reflect.ValueOf(dest).Elem()
	if to.Kind() != reflect.String {
		return fmt.Errorf("a value is read into %T, which nothing in a transaction asks for", dest)
	}
	var s sql.Null[string]
	err := s.Scan(v)
	to.SetString(s.V)
	return err
}
