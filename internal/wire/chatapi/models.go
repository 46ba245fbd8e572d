package chatapi

import (
	"macaron/internal/contract"
	"macaron/internal/turn"
)

// ModelCard is a model that a client may ask for.
type ModelCard struct {
	ID, Title, Description, Revision string
}

// Models lists the routed model and one for each adapter that can be forced.
func Models(c turn.Catalog) []ModelCard {
	cards := []ModelCard{{ID: RoutedModel, Title: c.Contract.Name, Description: "chooses a specialist for each turn"}}
	for _, r := range c.Adapters {
		entry, ok := c.Contract.Adapter(r.Name)
		if !ok {
			entry = contract.Adapter{Title: r.Name}
		}
		cards = append(cards, ModelCard{ID: RoutedModel + "/" + r.Name, Title: entry.Title, Description: entry.Description, Revision: string(r.Hash)})
	}
	return cards
}
