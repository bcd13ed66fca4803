// Uses the client that oapi-codegen has made in the folder registry, as a program of an integrator
// would. Prints what it learned as JSON.
//
//	go run . URL API_KEY
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"document-registry/generated-go/registry"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	url, key := os.Args[1], os.Args[2]
	ctx := context.Background()
	withKey := registry.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	})
	client := must(registry.NewClientWithResponses(url, withKey))

	order := "go-4711"
	params := &registry.IssueDocumentParams{IdempotencyKey: &order}
	document := registry.NewDocument{
		SubjectName: "Ada Lovelace",
		SubjectId:   "18151210",
		Category:    "birth_certificate",
		IssuedAt:    "2026-01-31",
	}
	issued := must(client.IssueDocumentWithResponse(ctx, params, document)).JSON201.Data
	again := must(client.IssueDocumentWithResponse(ctx, params, document)).JSON201.Data
	query := &registry.VerifyDocumentParams{PublicId: issued.PublicId}
	verified := must(client.VerifyDocumentWithResponse(ctx, query)).JSON200.Data
	proof := must(verified.BlockchainProof.AsBlockchainProof())
	reason := registry.RevocationReason("keyCompromise")
	revocation := registry.Revocation{Reason: &reason}
	revoked := must(client.RevokeDocumentWithResponse(ctx, issued.PublicId, nil, revocation))
	after := must(client.VerifyDocumentWithResponse(ctx, query)).JSON200.Data
	document.SubjectName = ""
	refused := must(client.IssueDocumentWithResponse(ctx, nil, document)).JSON422.Error

	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"again":    again.PublicId == issued.PublicId,
		"verified": []any{verified.Valid, verified.Status, proof.DocumentHash == issued.DocumentHash},
		"revoked":  revoked.JSON200.Data.Reason,
		"after":    []any{after.Valid, after.Status},
		"refused":  refused.Code,
	}))
}
