// Package key is `macaron key`: the API keys of a server.
package key

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/money"
)

// New gives the commands of key.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("key", "Make and end API keys", newKeyCreate(e), newKeyList(e), newKeyRevoke(e), newKeyRotate(e), newKeyTenant(e), newKeyImport(e))
}

// keys gives the manager of this home's keys.
func keys(e *cli.Env) (*auth.Manager, error) {
	c, err := e.Config()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return nil, disk.Error(err, c.Home+" cannot be made")
	}
	now := clock.System{}
	return &auth.Manager{Store: auth.OpenFile(c.Home), IDs: ids.NewSource(now, nil), Now: now.Now}, nil
}

func newKeyCreate(e *cli.Env) *cobra.Command {
	want := auth.Key{}
	var scopes, adapters, expires string
	c := &cobra.Command{
		Use:   "create",
		Short: "Make a key and print its secret, once",
		Long: "Makes a key and prints its secret. Only a digest is kept: a lost secret cannot be shown again.\n" +
			"With the first key of a home its server asks every client for one, and may listen beyond this machine.",
		Example: "  macaron key create --tenant acme --scopes chat,read,feedback --rpm 60 --budget 1000000/day\n  macaron key create --name prometheus --scopes metrics --expires 90d",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if want.Scopes, err = auth.ParseScopes(scopes); err != nil {
				return err
			}
			if want.Expires, err = readExpiry(expires, time.Now()); err != nil {
				return err
			}
			want.Adapters = words(adapters)
			m, err := keys(e)
			if err != nil {
				return err
			}
			key, secret, err := m.Create(cmd.Context(), want)
			if err != nil {
				return err
			}
			return showSecret(e, key, secret)
		},
	}
	f := c.Flags()
	f.StringVar(&want.Tenant, "tenant", auth.Local, "tenant whose conversations it reaches")
	f.StringVar(&want.User, "user", "", "user of the tenant whose key it is: adapters that are for single users go by it")
	f.BoolVar(&want.Trusted, "trust-user", false, "the holder knows the tenant's users and names them in user, metadata.user_id or "+auth.UserHeader)
	f.StringVar(&want.Name, "name", "", "name for people")
	f.StringVar(&scopes, "scopes", "chat,read,feedback", "what it may do: some of chat, read, feedback, runs, train, approve, publish, admin, metrics")
	f.StringVar(&adapters, "adapters", "", "adapters that may answer, comma-separated; none: all")
	f.StringVar(&expires, "expires", "", "when it ends: a span such as 90d or 12h, or a time such as 2027-01-31T00:00:00Z")
	quotaFlags(c, &want.Limits)
	return c
}

// quotaFlags offers the bounds of a key or tenant.
func quotaFlags(c *cobra.Command, q *limits.Quota) {
	f := c.Flags()
	f.Int64Var(&q.Requests, "rpm", 0, "requests a minute; 0 is no bound")
	f.Int64Var(&q.Tokens, "tpm", 0, "tokens a minute; 0 is no bound")
	f.Int64Var(&q.Turns, "turns", 0, "turns at once; 0 is no bound")
	f.Func("budget", "tokens or dollars a day or month, such as 100000/day or 2.50USD/month; may be given several times", func(v string) error {
		amount, period, ok := strings.Cut(v, "/")
		at := budgetAt(q, period)
		if dollars, isMoney := strings.CutSuffix(amount, "USD"); ok && isMoney && at.cost != nil {
			n, err := money.Parse(dollars)
			if err == nil && n > 0 {
				*at.cost = n
				return nil
			}
		}
		if n, err := strconv.ParseInt(amount, 10, 64); ok && err == nil && n > 0 && at.tokens != nil {
			*at.tokens = n
			return nil
		}
		return fmt.Errorf("%q is not a number of tokens, or of dollars and USD, and /day or /month", v)
	})
}

// budget is where the bounds of a span of time stand.
type budget struct {
	tokens *int64
	cost   *money.USD
}

func budgetAt(q *limits.Quota, period string) budget {
	switch period {
	case "day":
		return budget{&q.DayTokens, &q.DayCost}
	case "month":
		return budget{&q.MonthTokens, &q.MonthCost}
	}
	return budget{}
}

// readExpiry reads a time, or a span from now.
func readExpiry(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	d, err := readSpan(s)
	if err != nil {
		return time.Time{}, errs.As(err).In("expires")
	}
	return now.UTC().Add(d).Truncate(time.Second), nil
}

// readSpan reads a duration, which may be in days.
func readSpan(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errs.New(errs.InvalidRequest, fmt.Sprintf("%q is neither a span nor a time", errs.Clip(s)), "use one such as 90d, 12h or 2027-01-31T00:00:00Z")
	}
	return d, nil
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

// secretShown is what `key create` and `key rotate` print as JSON.
type secretShown struct {
	auth.Key
	Secret string `json:"secret"`
}

func showSecret(e *cli.Env, k auth.Key, secret string) error {
	if e.JSON {
		return e.PrintJSON(secretShown{k, secret})
	}
	fmt.Fprintf(e.Out, "%s\n", secret)
	fmt.Fprintf(e.Err, "The key %s of the tenant %s. It is not shown again.\n", k.ID, k.Tenant)
	return nil
}

// keyShown is one key as `key list` prints it.
type keyShown struct {
	auth.Key
	State string `json:"state"`
}

func newKeyList(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys, without their secrets", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := keys(e)
			if err != nil {
				return err
			}
			all, err := m.Store.Load(cmd.Context())
			if err != nil {
				return err
			}
			return listKeys(e, all, m.Now())
		},
	}
}

// whose is a key's tenant, with its user or * for a holder who names users.
func whose(k auth.Key) string {
	switch {
	case k.Trusted:
		return k.Tenant + "/*"
	case k.User != "":
		return k.Tenant + "/" + k.User
	}
	return k.Tenant
}

func listKeys(e *cli.Env, all *auth.Keys, now time.Time) error {
	shown := []keyShown{}
	rows := [][]string{{"ID", "TENANT", "STATE", "SCOPES", "EXPIRES", "LIMITS", "NAME"}}
	for _, k := range all.Keys {
		shown = append(shown, keyShown{k, k.State(now)})
		var scopes []string
		for _, s := range k.Scopes {
			scopes = append(scopes, string(s))
		}
		rows = append(rows, []string{k.ID, whose(k), k.State(now), strings.Join(scopes, ","), cli.OrDash(expiry(k.Expires)), cli.OrDash(quota(k.Limits)), k.Name})
	}
	if e.JSON {
		tenants := all.Tenants
		if tenants == nil {
			tenants = []auth.Tenant{}
		}
		return e.PrintJSON(map[string]any{"keys": shown, "tenants": tenants})
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	for _, t := range all.Tenants {
		fmt.Fprintf(e.Out, "tenant %s: %s\n", t.Name, quota(t.Limits))
	}
	return nil
}

func expiry(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func quota(q limits.Quota) string {
	var parts []string
	for _, b := range []struct {
		n    int64
		what string
	}{{q.Requests, "rpm"}, {q.Tokens, "tpm"}, {q.Turns, "turns"}, {q.DayTokens, "tokens/day"}, {q.MonthTokens, "tokens/month"}} {
		if b.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", b.n, b.what))
		}
	}
	for _, b := range []struct {
		n    money.USD
		what string
	}{{q.DayCost, "USD/day"}, {q.MonthCost, "USD/month"}} {
		if b.n > 0 {
			parts = append(parts, b.n.String()+" "+b.what)
		}
	}
	return strings.Join(parts, ", ")
}

func newKeyRevoke(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a key for ever; a running server follows within a second", Args: cli.Args(1, 1, "the id of one key"),
		RunE: func(cmd *cobra.Command, given []string) error {
			m, err := keys(e)
			if err != nil {
				return err
			}
			k, err := m.Revoke(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(keyShown{k, k.State(m.Now())})
			}
			fmt.Fprintf(e.Out, "%s is revoked.\n", k.ID)
			return nil
		},
	}
}

func newKeyRotate(e *cli.Env) *cobra.Command {
	var grace string
	c := &cobra.Command{
		Use: "rotate ID", Short: "Make a key like another one, which ends", Args: cli.Args(1, 1, "the id of one key"),
		Example: "  macaron key rotate key_01J... --grace 24h",
		RunE: func(cmd *cobra.Command, given []string) error {
			span, err := readSpan(grace)
			if err != nil {
				return errs.As(err).In("grace")
			}
			m, err := keys(e)
			if err != nil {
				return err
			}
			k, secret, err := m.Rotate(cmd.Context(), given[0], span)
			if err != nil {
				return err
			}
			return showSecret(e, k, secret)
		},
	}
	c.Flags().StringVar(&grace, "grace", "0s", "how long the old one may still be used")
	return c
}

func newKeyTenant(e *cli.Env) *cobra.Command {
	var t auth.Tenant
	c := &cobra.Command{
		Use: "tenant NAME", Short: "Bound all keys of a tenant together; without a bound, take it away", Args: cli.Args(1, 1, "the name of one tenant"),
		Example: "  macaron key tenant acme --tpm 100000 --budget 5000000/month",
		RunE: func(cmd *cobra.Command, given []string) error {
			m, err := keys(e)
			if err != nil {
				return err
			}
			t.Name = given[0]
			if err := m.SetTenant(cmd.Context(), t); err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(t)
			}
			fmt.Fprintf(e.Out, "tenant %s: %s\n", t.Name, cli.OrDash(quota(t.Limits)))
			return nil
		},
	}
	quotaFlags(c, &t.Limits)
	return c
}
