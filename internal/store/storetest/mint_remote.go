package storetest

import (
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
)

// mintRemotes: names of what a backend elsewhere has are their owner's, are replaced by their
// key, and go with their session unless they are of a run or a checkpoint.
func mintRemotes(t *testing.T, st Store) {
	m := st.Mint()
	row := func(kind, id string, n int) ledger.Remote {
		return ledger.Remote{Owner: "o", Kind: kind, ID: id, Backend: "b", There: "there-" + id, Session: "s", About: []byte(`{"n":1}`), Created: at(n)}
	}
	put := func(all ...ledger.Remote) {
		t.Helper()
		if err := m.PutRemotes(ctx, all); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, m, ledger.Change{Sessions: []ledger.Session{{Owner: "o", ID: "s", About: []byte(`{}`), Created: at(1), Seen: at(1), Ended: at(9)}}})
	first, second2, check := row(ledger.RemoteModel, "s:train:0", 1), row(ledger.RemoteModel, "s:train:1", 2), row(ledger.RemoteCheckpoint, "tinker://s:train:0/weights/a", 3)
	check.State = ledger.Due
	put(first, second2, check, row(ledger.RemoteRequest, "s:train:0:1", 4), row(ledger.RemoteSampler, "s:sample:0", 5), row(ledger.RemoteSession, "s@b", 1))
	same(t, first)(m.Remote(ctx, "o", ledger.RemoteModel, first.ID))
	same(t, []ledger.Remote{second2, first})(m.RemotesOf(ctx, "o", ledger.RemoteModel, "s"))
	same(t, []ledger.Remote{second2, first})(m.RemotesOf(ctx, "o", ledger.RemoteModel, ""))
	same(t, []ledger.Remote{check})(m.DueRemotes(ctx))
	for _, asked := range [][2]string{{"p", ledger.RemoteModel}, {"o", ledger.RemoteSampler}} {
		if _, err := m.Remote(ctx, asked[0], asked[1], first.ID); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%v: %v", asked, err)
		}
	}
	check.State, check.About = "", []byte(`{}`)
	put(check)
	same(t, check)(m.Remote(ctx, "o", ledger.RemoteCheckpoint, check.ID))
	same(t, []ledger.Remote(nil))(m.DueRemotes(ctx))
	if n, err := m.Forget(ctx, at(20)); err != nil || n != 3 {
		t.Errorf("%d names were forgotten: %v", n, err)
	}
	if err := m.DropRemote(ctx, "o", ledger.RemoteModel, first.ID); err != nil {
		t.Fatal(err)
	}
	same(t, []ledger.Remote{second2})(m.RemotesOf(ctx, "o", ledger.RemoteModel, ""))
	same(t, check)(m.Remote(ctx, "o", ledger.RemoteCheckpoint, check.ID))
}
