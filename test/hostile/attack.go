package main

import (
	"context"
)

// failedAttempt begins the outcome of an attempt that could not be made.
const failedAttempt = "failed: "

// table has the outcomes of each attack, and the memory of the manager in bytes.
type table struct {
	attacks      map[string]outcomes
	before, peak int64
}

// outcomes counts the attempts of an attack by their outcome.
type outcomes map[string]int

// attackInTurn tries each attack in turn until the context ends, or rounds times if that isn't 0. It
// reads the manager's memory after each attempt.
func attackInTurn(ctx context.Context, t *target, rounds int, memory func() int64) *table {
	result := &table{attacks: map[string]outcomes{}, before: memory()}
	for _, a := range attacks {
		result.attacks[a.name] = outcomes{}
	}
	for round := 0; rounds == 0 || round < rounds; round++ {
		for _, a := range attacks {
			if ctx.Err() != nil {
				return result
			}
			outcome, err := t.attempt(ctx, a)
			if ctx.Err() != nil {
				return result // the attempt may have ended because of it
			}
			if err != nil {
				outcome = failedAttempt + err.Error()
			}
			result.attacks[a.name][outcome]++
			result.peak = max(result.peak, memory())
		}
	}
	return result
}

func (t *target) attempt(ctx context.Context, a attack) (string, error) {
	token, done, err := t.newToken()
	if err != nil {
		return "", err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return a.attempt(ctx, t, token)
}
