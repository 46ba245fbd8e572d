package ledger

import "context"

// Check reads the whole ledger of an owner and checks it: the chain of its entries, and that the names
// stand where it has moved them. Others may write meanwhile. see hears each entry that is as it was
// written, in order; it may be nil. errs.ChecksumMismatch names what is not, and the head is that of
// the entries before.
func (l *Ledger) Check(ctx context.Context, owner string, see func(Entry)) (Head, error) {
	var c Chain
	var stray error
	for before := int64(-1); ; before = c.head.Seq {
		if err := l.follow(ctx, owner, &c, see); err != nil {
			return c.head, err
		}
		if c.head.Seq == before {
			return c.head, stray // no entry came since the names were read: none of them explains it
		}
		names, err := l.Store.Aliases(ctx, owner)
		if err != nil {
			return c.head, err
		}
		if stray = c.Stands(names); stray == nil {
			return c.head, nil
		}
	}
}

// follow checks the entries behind what was checked.
func (l *Ledger) follow(ctx context.Context, owner string, c *Chain, see func(Entry)) error {
	for {
		next, err := l.Store.LedgerEntries(ctx, owner, "", c.head.Seq, page)
		if err != nil {
			return err
		}
		for _, e := range next {
			if err := c.Next(e); err != nil {
				return err
			}
			if see != nil {
				see(e)
			}
		}
		if len(next) < page {
			return nil
		}
	}
}
