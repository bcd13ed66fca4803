//go:build ignore

// Makes tries.json: proofs of presence and absence as go-ethereum's own trie gives them.
//
//	cd "$(go mod download -json github.com/ethereum/go-ethereum@v1.16.7 | jq -r .Dir)"
//	go run -mod=readonly <here>/tries.go > <here>/tries.json
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
)

type proof struct {
	Name  string   `json:"name"`
	Root  string   `json:"root"`
	Key   string   `json:"key"`
	Proof []string `json:"proof"`
	Value *string  `json:"value"`
}

// list keeps nodes in the order in which they are proven, root first.
type list struct{ nodes []string }

func (l *list) Put(_, node []byte) error {
	l.nodes = append(l.nodes, fmt.Sprintf("0x%x", node))
	return nil
}
func (l *list) Delete([]byte) error { return nil }

var cases []proof

func prove(name string, entries map[string]string, keys ...string) {
	db := triedb.NewDatabase(rawdb.NewMemoryDatabase(), nil)
	t := trie.NewEmpty(db)
	for key, value := range entries {
		t.MustUpdate(common.FromHex(key), common.FromHex(value))
	}
	root := t.Hash()
	if len(entries) == 0 && root != types.EmptyRootHash {
		panic("not the empty root")
	}
	for i, key := range keys {
		nodes := list{nodes: []string{}}
		if err := t.Prove(common.FromHex(key), &nodes); err != nil {
			panic(err)
		}
		c := proof{Name: fmt.Sprintf("%s, %d", name, i), Root: root.Hex(), Key: key, Proof: nodes.nodes}
		if value, held := entries[key]; held {
			c.Value = &value
		}
		cases = append(cases, c)
	}
}

// key is 32 bytes: a prefix in hex, then zeros.
func key(prefix string) string {
	return "0x" + (prefix + "0000000000000000000000000000000000000000000000000000000000000000")[:64]
}

// tail is 32 bytes: zeros, then a hexadecimal ending, so that keys differ late and leaves are short.
func tail(ending string) string {
	zeros := "0000000000000000000000000000000000000000000000000000000000000000"
	return "0x" + zeros[:64-len(ending)] + ending
}

func main() {
	long := "0x" + fmt.Sprintf("%064x", 7)
	prove("empty", nil, key("12"))
	prove("one leaf", map[string]string{key("12"): long}, key("12"), key("13"), key("22"))
	prove("a branch at the root", map[string]string{key("12"): long, key("34"): long}, key("12"), key("34"), key("56"), key("1"))
	prove("an extension at the root", map[string]string{key("ab12"): long, key("ab34"): long},
		key("ab12"), key("ab56"), key("cd12"), key("a1"))
	prove("a branch under a branch, with an extension between", map[string]string{key("a112"): long, key("a134"): long, key("b1"): long},
		key("a112"), key("a134"), key("a156"), key("a2"), key("b1"), key("b2"))
	prove("leaves inside their branch", map[string]string{tail("10"): "0x05", tail("20"): "0x06"},
		tail("10"), tail("20"), tail("30"), tail("11"))
	prove("a branch inside a branch", map[string]string{tail("11"): "0x05", tail("12"): "0x06", tail("20"): "0x07"},
		tail("11"), tail("12"), tail("13"), tail("20"), tail("21"), tail("30"))
	prove("an extension inside a branch", map[string]string{tail("1112"): "0x05", tail("1113"): "0x06", tail("2000"): "0x07"},
		tail("1112"), tail("1113"), tail("1114"), tail("1212"), tail("2000"))
	random := rand.New(rand.NewSource(1))
	many := map[string]string{}
	var some []string
	for i := 0; i < 2000; i++ {
		bytes := make([]byte, 32)
		random.Read(bytes)
		k := fmt.Sprintf("0x%x", bytes)
		many[k] = fmt.Sprintf("0x%x", bytes[:1+i%32])
		if i%400 == 0 {
			some = append(some, k)
		}
	}
	for i := 0; i < 3; i++ {
		bytes := make([]byte, 32)
		random.Read(bytes)
		some = append(some, fmt.Sprintf("0x%x", bytes))
	}
	prove("2000 random keys", many, some...)

	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.Encode(map[string]any{"origin": "go-ethereum v1.16.7, package trie, by tries.go", "cases": cases})
}
