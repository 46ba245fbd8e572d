package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// chainTurns is how long the chains are, and how many turns of each end are compared.
const (
	chainTurns = 120
	chainEnd   = 20
	chainsHeld = 16
)

// chains holds conversations of 120 turns by previous_response_id, where the client sends the
// new message only, and compares what a turn costs at both ends.
func chains(s *subject) error {
	previous := make([]string, chainsHeld)
	var cost [chainTurns]time.Duration
	for n := range chainTurns {
		before, err := s.cpu()
		if err != nil {
			return err
		}
		for i := range previous {
			if previous[i], err = s.respond(previous[i]); err != nil {
				return err
			}
		}
		if err := s.summarised(); err != nil {
			return err
		}
		after, err := s.cpu()
		if err != nil {
			return err
		}
		cost[n] = after - before
	}
	ends := func(from int) (sum time.Duration) {
		for _, c := range cost[from : from+chainEnd] {
			sum += c
		}
		return sum / chainEnd / chainsHeld
	}
	first, last := ends(chainEnd/2), ends(chainTurns-chainEnd)
	fmt.Printf("%d chains of %d turns: %.2f ms of CPU a turn from turn %d on, %.2f ms at the end\n", chainsHeld, chainTurns, ms(first), chainEnd/2, ms(last))
	if last > first*3/2 {
		return errors.New("turns at the end of a chain cost more than half as much again")
	}
	return nil
}

// respond holds one turn, which the upstream answers at once, and gives its id.
func (s *subject) respond(previous string) (string, error) {
	t := talk{nonce: newNonce()}
	q := map[string]any{"model": "macaron", "input": swiftly + " " + t.nonce}
	if previous != "" {
		q["previous_response_id"] = previous
	}
	body, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	resp, err := s.client.http.Post(s.base+"/v1/responses", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", resp.StatusCode, text)
	}
	if err != nil {
		return "", err
	}
	var r struct {
		ID string `json:"id"`
	}
	return r.ID, errors.Join(t.told(text, false), json.Unmarshal(text, &r))
}
