//! The module that the edits are made in.

pub const MODULE: &str = r#"
-- go.mod --
module example.com/demo

go 1.22
-- README.md --
A demo.
-- calc/calc.go --
// Package calc calculates.
package calc

import "fmt"

const Unit = 1

type Shape interface{ Area() int }

type Square struct{ Side int }

func (s Square) Area() int { return s.Side * s.Side }

func (s *Square) Grow(by int) { s.Side += by }

var table = map[string]int{"one": 1, "two": double(1)}

func double(n int) int { return n * 2 }

func init() { table["init"] = 7 }

// Add adds.
func Add(a, b int) int {
	return a + b
}

func Sub(a, b int) int { return a - b }

func Look(name string) int { return table[name] }

func hook() {}

func Hooked() int {
	hook()
	return Unit
}

func Max[T int | float64](a, b T) T {
	if a > b {
		return a
	}
	return b
}

func Describe(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return "plain"
}

func Choose(big bool) any {
	if big {
		return large
	}
	return small
}

func large(n int) int { return n * 100 }

func small(n int) int { return n }

func Spare() int { return 3 }

var Deferred = func() int { return 5 }

func Late() (n int) {
	defer func() { n = Sub(n, 1) }()
	done := make(chan int)
	go func() { done <- Add(1, 1) }()
	return <-done
}
-- calc/other_windows.go --
package calc

func Other() int { return 1 }
-- calc/calc_test.go --
package calc

import "testing"

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("got %d, want %d", got, want)
	}
}

const three = 3

func TestAdd(t *testing.T) { check(t, Add(1, 2), three) }

func TestSub(t *testing.T) {
	if Sub(3, 2) != 1 {
		t.Fatal("wrong")
	}
}

func TestLook(t *testing.T) {
	if Look("one")+Look("two")+Look("init") != 10 {
		t.Fatal("wrong")
	}
}

func TestHooked(t *testing.T) {
	if Hooked() != 1 {
		t.Fatal("wrong")
	}
}

func TestGrow(t *testing.T) {
	s := Square{2}
	s.Grow(1)
	var shape Shape = s
	if shape.Area() != 9 {
		t.Fatal("wrong")
	}
}

func TestMax(t *testing.T) {
	for _, c := range []struct{ name string }{{"a"}, {"b"}} {
		t.Run(c.name, func(t *testing.T) {
			if Max(1, 2) != 2 {
				t.Fatal("wrong")
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	if Describe(Square{1}) != "plain" {
		t.Fatal("wrong")
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	if Late() != 1 {
		t.Fatal("wrong")
	}
}

func FuzzAdd(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {
		if Add(n, 0) != n {
			t.Fatal("wrong")
		}
	})
}

func BenchmarkAdd(b *testing.B) {}
-- calc/testdata/fuzz/FuzzAdd/seed --
go test fuzz v1
int(4)
-- calc/outer_test.go --
package calc_test

import (
	"fmt"
	"testing"

	"example.com/demo/calc"
)

func ExampleAdd() {
	fmt.Println(calc.Add(2, 2))
	// Output: 4
}

func ExampleSub() {
	fmt.Println(calc.Sub(2, 2))
}

func TestChoose(t *testing.T) {
	if _, ok := calc.Choose(false).(func(int) int); !ok {
		t.Fatal("wrong")
	}
}

func TestDeferred(t *testing.T) {
	if calc.Deferred() != 5 {
		t.Fatal("wrong")
	}
}
-- files/files.go --
package files

import (
	"embed"
	"os"
	"os/exec"
	"strings"
)

//go:embed banner.txt
var Banner string

//go:embed pages
var Pages embed.FS

func Read(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "none"
	}
	return strings.TrimSpace(string(text))
}

func Names(folder string) int {
	entries, _ := os.ReadDir(folder)
	return len(entries)
}

func Run(script string) string {
	text, _ := exec.Command("sh", script).Output()
	return strings.TrimSpace(string(text))
}
-- files/banner.txt --
hello
-- files/pages/a.html --
<p>
-- files/testdata/golden.txt --
golden
-- files/testdata/script.sh --
cat testdata/by_script.txt
-- files/testdata/by_script.txt --
script
-- files/testdata/many/one --
1
-- files/testdata/unused.txt --
unused
-- files/files_test.go --
package files

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBanner(t *testing.T) {
	if !strings.HasPrefix(Banner, "hello") {
		t.Fatal(Banner)
	}
}

func TestPages(t *testing.T) {
	entries, _ := Pages.ReadDir("pages")
	if len(entries) != 1 {
		t.Fatal(len(entries))
	}
}

func TestGolden(t *testing.T) {
	if Read("testdata/golden.txt") != "golden" {
		t.Fatal("wrong")
	}
}

func TestAbsent(t *testing.T) {
	if Read("testdata/absent.txt") != "none" {
		t.Fatal("wrong")
	}
}

func TestNames(t *testing.T) {
	if Names("testdata/many") != 1 {
		t.Fatal("wrong")
	}
}

func TestScript(t *testing.T) {
	if Run("testdata/script.sh") != "script" {
		t.Fatal("wrong")
	}
}

func TestTemp(t *testing.T) {
	name := t.TempDir() + "/new"
	os.WriteFile(name, []byte("new"), 0o600)
	if Read(name) != "new" {
		t.Fatal("wrong")
	}
}

func TestVariable(t *testing.T) {
	if os.Getenv("FLAVOUR") == "sour" {
		t.Fatal("wrong")
	}
}

func TestAgain(t *testing.T) {
	if os.Getenv("AGAIN") == "yes" {
		os.Stdout.WriteString(Read("testdata/golden.txt"))
		os.Exit(0)
	}
	self := exec.Command(os.Args[0], "-test.run=^TestAgain$")
	self.Env = append(os.Environ(), "AGAIN=yes")
	text, _ := self.Output()
	if !strings.Contains(string(text), "golden") {
		t.Fatal(string(text))
	}
}
-- app/app.go --
package app

import "example.com/demo/calc"

var Ready bool

func Total() int { return calc.Add(calc.Unit, 1) }

func Close() error { return nil }
-- app/app_test.go --
package app

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Ready = true
	code := m.Run()
	if Close() != nil {
		code = 1
	}
	os.Exit(code)
}

func TestReady(t *testing.T) {
	if !Ready {
		t.Fatal("wrong")
	}
}

func TestTotal(t *testing.T) {
	if Total() != 2 {
		t.Fatal("wrong")
	}
}
-- plain/plain.go --
package plain

func Nothing() {}
"#;
