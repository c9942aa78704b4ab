/*
 * Hostfiles and lists of hosts: every form that is read, and every one that a
 * shell or ssh could misread, which is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/hosts.h"
#include "os/file/file.h"
#include "os/file/scratch.h"

static struct hosts hosts;
static struct why why;

static enum err parse(const char *list)
{
    hosts_close(&hosts);
    why = (struct why){0};
    return hosts_parse(&hosts, list, &why);
}

static enum err read_text(const char *text)
{
    struct scratch scratch;
    char path[FILE_PATH_SIZE];
    enum err err;

    assert_int_equal(scratch_open(&scratch, NULL), ERR_OK);
    file_path_in(scratch.path, "hosts", path);
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, NULL),
                     ERR_OK);
    hosts_close(&hosts);
    why = (struct why){0};
    err = hosts_read(&hosts, path, &why);
    scratch_close(&scratch);
    return err;
}

static void expect(uint32_t index, const char *target, const char *name,
                   uint32_t slots)
{
    assert_true(index < hosts.count);
    assert_string_equal(hosts.list[index].target, target);
    assert_string_equal(hosts.list[index].name, name);
    assert_int_equal(hosts.list[index].slots, slots);
}

static void test_list(void **state)
{
    (void)state;
    assert_int_equal(parse("node1,node2:4, ann@node3.example ,10.0.0.7:2"),
                     ERR_OK);
    assert_int_equal(hosts.count, 4);
    assert_int_equal(hosts.slots, 8);
    expect(0, "node1", "node1", 1);
    expect(1, "node2", "node2", 4);
    expect(2, "ann@node3.example", "node3.example", 1);
    expect(3, "10.0.0.7", "10.0.0.7", 2);
}

static void test_numbers_with_colons(void **state)
{
    (void)state;
    assert_int_equal(parse("2001:db8::7,[2001:db8::8]:3,ann@[fe80::1%eth0]"),
                     ERR_OK);
    expect(0, "2001:db8::7", "2001:db8::7", 1);
    expect(1, "2001:db8::8", "2001:db8::8", 3);
    expect(2, "ann@fe80::1%eth0", "fe80::1%eth0", 1);
}

static void test_file(void **state)
{
    (void)state;
    assert_int_equal(read_text("# all of ours\n"
                               "\n"
                               "node1 slots=2   # two\n"
                               "\tnode2:3\r\n"
                               "ann@node1\n"
                               "node1 # again"),
                     ERR_OK);
    assert_int_equal(hosts.count, 3);
    assert_int_equal(hosts.slots, 7);
    expect(0, "node1", "node1", 3);
    expect(1, "node2", "node2", 3);
    expect(2, "ann@node1", "node1", 1);
}

/* As Open MPI's and MPICH's manuals have them. */
static void test_other_mpis(void **state)
{
    (void)state;
    assert_int_equal(read_text("a slots = 2\n"
                               "b slots=2 max_slots=4\n"
                               "c\tslots =3  max-slots= 3 # all of it\n"
                               "d max_slots=20\n"
                               "e:4\n"
                               "f.example:2 max_slots = 2\n"
                               "g max_slots=0\n"
                               "h slots=3 max_slots=4096\n"),
                     ERR_OK);
    expect(0, "a", "a", 2);
    expect(1, "b", "b", 2);
    expect(2, "c", "c", 3);
    expect(3, "d", "d", 1);
    expect(4, "e", "e", 4);
    expect(5, "f.example", "f.example", 2);
    expect(6, "g", "g", 1);
    expect(7, "h", "h", 3);
    assert_int_equal(read_text("a max_slots=many"), ERR_FORMAT);
    assert_non_null(strstr(why.text, "no max_slots"));
    assert_int_equal(read_text("a slots=0 max_slots=0"), ERR_FORMAT);
    assert_non_null(strstr(why.text, "no number of slots"));
}

static char names[60000][NAME_SIZE];

static void name_all(const char *list)
{
    assert_int_equal(parse(list), ERR_OK);
    assert_true(hosts.slots <= sizeof names / sizeof *names);
    assert_int_equal(hosts_name(&hosts, names, &why), ERR_OK);
}

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

static void test_names(void **state)
{
    (void)state;
    name_all("a,b:2,x@a,a.2,cluster");
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b-1");
    assert_string_equal(names[2], "b-2");
    assert_string_equal(names[3], "a.3");
    assert_string_equal(names[4], "a.2");
    assert_string_equal(names[5], "cluster-1");
    /* What a name is changed to may be another's. */
    name_all("a,x@a,a.1,y@a.1");
    assert_string_equal(names[1], "a.1");
    assert_string_equal(names[2], "a.1.2");
    assert_string_equal(names[3], "a.1.3");
    name_all("a:2,a-1,[::1]:2,[::2]");
    assert_string_equal(names[2], "a-1.2");
    /* An option begins with a dash, a name does not. */
    assert_string_equal(names[3], "host--1-1");
    assert_string_equal(names[5], "host--2");
}

/* One machine's users, each with a thousand slots: all names differ, and they
 * are looked up, not compared each with each. */
static void test_many_names(void **state)
{
    static char list[60 * 32];
    size_t size = 0;

    (void)state;
    for (unsigned i = 0; i < 60; i++)
        size += (size_t)snprintf(list + size, sizeof list - size,
                                 "%suser%u@node:1000", i == 0 ? "" : ",", i);
    name_all(list);
    assert_int_equal(hosts.slots, 60000);
    qsort(names, 60000, NAME_SIZE, compare);
    for (unsigned i = 1; i < 60000; i++)
        assert_string_not_equal(names[i - 1], names[i]);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "a,,b",
                                      "a b",
                                      "a slots=",
                                      "a slots=0",
                                      "a:",
                                      "a:0",
                                      "a:1025",
                                      "a:x",
                                      "a:-1",
                                      "a:1 1",
                                      "-oX",
                                      "x@-oX",
                                      "@a",
                                      "a@",
                                      "a@b@c",
                                      "$(x)",
                                      "`x`",
                                      "a;b",
                                      "a|b",
                                      "a&b",
                                      "a'b",
                                      "a\"b",
                                      "a\\b",
                                      "a\nb",
                                      "a/b",
                                      "a*",
                                      "[::1",
                                      "[::1]x",
                                      "[]",
                                      "[-oX]",
                                      "a=b",
                                      "a slots=2 b",
                                      "a max=2",
                                      "a:1024,a",
                                      "~x",
                                      "{a}",
                                      "a:99999999999",
                                      "a slots 2",
                                      "a slots = ",
                                      "a max_slots=x",
                                      "a slots==2"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i]) == ERR_OK)
            fail_msg("%s is a host", bad[i]);
        assert_true(why.text[0] != '\0');
    }
}

static void test_refused_file(void **state)
{
    (void)state;
    assert_int_equal(read_text("# nobody\n"), ERR_FORMAT);
    assert_non_null(strstr(why.text, "there is no host in it"));
    assert_int_equal(read_text("a\nb c\n"), ERR_FORMAT);
    assert_non_null(strstr(why.text, "line 2: \"c\" after the host"));
    assert_int_equal(hosts_read(&hosts, "/no/such/file", &why), ERR_NOTFOUND);
}

static int close_all(void **state)
{
    (void)state;
    hosts_close(&hosts);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_numbers_with_colons),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_other_mpis),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_file),
    };

    return cmocka_run_group_tests(tests, NULL, close_all);
}
