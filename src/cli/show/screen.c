/*
 * screen.c - progress on standard error: a block that is redrawn on a terminal,
 * sparse lines elsewhere.
 */
#include "cli/show/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/show/cells.h"

#define REDRAW_US   (100 * MS_US)
#define BAR_WIDTH   24u
#define ROWS_MAX    16u              /* Workers with a line each. */
#define LINE_SHARES 10u              /* Lines in all, without a terminal ... */
#define LINE_US     (10 * SECOND_US) /* ... unless so much time went by. */
#define DAY_S       86400.0

static bool speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && *value != '\0')
            return strstr(value, "UTF-8") != NULL ||
                   strstr(value, "utf8") != NULL;
    }
    return false;
}

void screen_init(struct screen *screen, bool quiet)
{
    const char *term = getenv("TERM");
    const char *plain = getenv("NO_COLOR");

    *screen = (struct screen){.mode = SCREEN_LINES};
    if (quiet)
        screen->mode = SCREEN_NONE;
    else if (isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0)
        screen->mode = SCREEN_BLOCK;
    screen->colour = plain == NULL || *plain == '\0';
    screen->utf8 = speaks_utf8();
}

int screen_pid(const char *name, const struct train_process *processes,
               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(processes[i].name, name) == 0)
            return processes[i].pid;
    return 0;
}

static const char *colour_of(const struct screen *screen,
                             enum progress_state state)
{
    return screen->colour ? cells_colour(state) : "";
}

static void draw_bar(const struct screen *screen,
                     const struct progress *progress,
                     const struct progress_worker *worker)
{
    const bool gone =
        worker->state == PROGRESS_DEAD || worker->state == PROGRESS_LEFT;
    const uint64_t best = progress->pace_best == 0 ? 1 : progress->pace_best;
    const uint64_t full = gone ? 0 : worker->pace * BAR_WIDTH / best;

    (void)fputs(colour_of(screen, worker->state), stderr);
    for (uint64_t i = 0; i < BAR_WIDTH; i++) {
        if (i >= full)
            (void)fputc(' ', stderr);
        else
            (void)fputs(screen->utf8 ? "\u2588" : "#", stderr);
    }
    (void)fprintf(stderr, "  %s%s", progress_state_name(worker->state),
                  screen->colour ? "\033[0m" : "");
}

static void end_line(struct screen *screen)
{
    (void)fputs("\033[K\n", stderr);
    screen->rows++;
}

static void draw_worker(struct screen *screen, const struct progress *progress,
                        const struct progress_worker *worker,
                        const struct train_process *processes, uint32_t count)
{
    const int pid = screen_pid(worker->name, processes, count);
    char number[16] = "";

    if (pid != 0)
        (void)snprintf(number, sizeof number, "%d", pid);
    (void)fprintf(stderr, "  %-8.24s %8s  ", worker->name, number);
    draw_bar(screen, progress, worker);
    if (worker->relay[0] != '\0')
        (void)fprintf(stderr, "  behind %.24s", worker->relay);
    end_line(screen);
}

/* Someone who works, so that the kill is felt: from the end of the list, where
 * the demo's slow one is not. */
static const struct train_process *victim(const struct progress *progress,
                                          const struct train_process *processes,
                                          uint32_t count)
{
    for (uint32_t i = progress->count; i-- > 0;) {
        if (progress->workers[i].state != PROGRESS_WORKING)
            continue;
        for (uint32_t j = 0; j < count; j++)
            if (processes[j].pid != 0 &&
                strcmp(processes[j].name, progress->workers[i].name) == 0)
                return &processes[j];
    }
    return NULL;
}

static void draw_invitation(struct screen *screen,
                            const struct progress *progress,
                            const struct train_process *processes,
                            uint32_t count)
{
    const struct train_process *worker = victim(progress, processes, count);
    const int coordinator = screen_pid("coordinator", processes, count);

    (void)fputs("Your turn:", stderr);
    if (worker != NULL)
        (void)fprintf(stderr, " kill -9 %d (%s)  ", worker->pid, worker->name);
    if (coordinator != 0)
        (void)fprintf(stderr, " kill -9 %d (the coordinator!)", coordinator);
    end_line(screen);
}

/* "8 s", "3 min", "2.5 h" or "4 days". */
static void duration(double seconds, char *text, size_t size)
{
    if (seconds < 100)
        (void)snprintf(text, size, "%.0f s", ceil(seconds));
    else if (seconds < 6000)
        (void)snprintf(text, size, "%.0f min", seconds / 60);
    else if (seconds < 2 * DAY_S)
        (void)snprintf(text, size, "%.1f h", seconds / 3600);
    else
        (void)snprintf(text, size, "%.0f days", seconds / DAY_S);
}

/* ", 8 s left" at so many steps a second. */
static void until_last(const struct screen *screen,
                       const struct progress *progress, double rate, char *text,
                       size_t size)
{
    char left[24];

    duration(progress->step >= screen->steps
                 ? 0
                 : (double)(screen->steps - progress->step) / rate,
             left, sizeof left);
    (void)snprintf(text, size, ", %s left", left);
}

/* "   31 steps/s, 8 s left   valid auc 0.93", as far as it is known. */
static void pace(struct screen *screen, const struct progress *progress,
                 time_us now, char *text, size_t size)
{
    const char *gap = screen->extra[0] == '\0' ? "" : "   ";
    char left[32] = "";
    double rate;

    /* Waiting for workers is not slow training. */
    if (screen->began_at == 0 && progress->step > 0) {
        screen->began_at = now;
        screen->began_step = progress->step;
    }
    if (progress->step <= screen->began_step || screen->began_at == 0 ||
        now <= screen->began_at) {
        (void)snprintf(text, size, "%s%s", gap, screen->extra);
        return;
    }
    rate = (double)(progress->step - screen->began_step) * (double)SECOND_US /
           (double)(now - screen->began_at);
    if (!screen->may_end)
        until_last(screen, progress, rate, left, sizeof left);
    (void)snprintf(text, size, "   %.*f steps/s%s%s%s", rate < 10 ? 2 : 0, rate,
                   left, gap, screen->extra);
}

/* What stands between the step and the last one. */
static const char *so_far(const struct screen *screen)
{
    return screen->may_end ? " of at most " : "/";
}

static uint32_t passes(const struct screen *screen, uint32_t steps)
{
    return steps / screen->pass + (steps % screen->pass != 0);
}

/* "step 41/100", of batches ", pass 5/10" as well. */
static void print_step(const struct screen *screen,
                       const struct progress *progress)
{
    (void)fprintf(stderr, "step %u%s%u", progress->step, so_far(screen),
                  screen->steps);
    if (screen->pass > 0)
        (void)fprintf(stderr, ", pass %u/%u", passes(screen, progress->step),
                      passes(screen, screen->steps));
}

static void draw_headline(struct screen *screen,
                          const struct progress *progress, time_us now)
{
    const uint32_t alive = progress_alive(progress);
    char speed[128];

    print_step(screen, progress);
    (void)fputs("   loss ", stderr);
    if (isnan(progress->objective))
        (void)fputs("-", stderr);
    else
        (void)fprintf(stderr, "%.6f", progress->objective);
    pace(screen, progress, now, speed, sizeof speed);
    (void)fputs(speed, stderr);
    if (screen->await[0] != '\0') {
        end_line(screen);
        (void)fputs(screen->await, stderr);
    } else if (progress->count > 0)
        (void)fprintf(stderr, "   %u worker%s, code %s", alive,
                      alive == 1 ? "" : "s", screen->code);
    end_line(screen);
}

static void draw_cells(struct screen *screen, const struct progress *progress)
{
    char text[CELLS_TEXT];

    for (uint32_t line = 0; line < cells_lines(progress); line++) {
        (void)fputs(
            cells_line(progress, line, screen->utf8, screen->colour, text),
            stderr);
        end_line(screen);
    }
    if (cells_trouble(progress, text)[0] == '\0')
        return;
    (void)fputs(text, stderr);
    end_line(screen);
}

static void draw_block(struct screen *screen, const struct progress *progress,
                       const struct train_process *processes, uint32_t count,
                       time_us now)
{
    if (screen->rows > 0)
        (void)fprintf(stderr, "\033[%uA", screen->rows);
    screen->rows = 0;
    draw_headline(screen, progress, now);
    if (progress->count > ROWS_MAX)
        draw_cells(screen, progress);
    for (uint32_t i = 0; progress->count <= ROWS_MAX && i < progress->count;
         i++)
        draw_worker(screen, progress, &progress->workers[i], processes, count);
    if (screen->invite)
        draw_invitation(screen, progress, processes, count);
    /* What an earlier, taller picture left below. */
    (void)fputs("\033[J", stderr);
    (void)fflush(stderr);
}

/* No trace event can tell of the coordinator's own death. */
static void tell_coordinator(struct screen *screen,
                             const struct progress *progress, int pid)
{
    if (pid == 0 || pid == screen->coordinator)
        return;
    if (screen->coordinator != 0)
        (void)fprintf(stderr,
                      "step %u: the coordinator died and is back; its workers "
                      "find it\n",
                      progress->step);
    screen->coordinator = pid;
}

static void tell_event(const struct progress *progress,
                       const struct trace *trace)
{
    char text[TRACE_TEXT];
    const char *sentence = progress_sentence(progress, trace, text);

    if (sentence != NULL)
        (void)fprintf(stderr, "%s\n", sentence);
}

static void tell_step(struct screen *screen, const struct progress *progress,
                      time_us now)
{
    const uint32_t share =
        screen->steps < LINE_SHARES ? 1 : screen->steps / LINE_SHARES;

    char speed[128];

    if (screen->told_at == 0)
        screen->told_at = now;
    pace(screen, progress, now, speed, sizeof speed);
    if (now - screen->told_at < SECOND_US ||
        (progress->step < screen->told_step + share &&
         now - screen->told_at < LINE_US))
        return;
    screen->told_step = progress->step;
    screen->told_at = now;
    print_step(screen, progress);
    (void)fprintf(stderr, "  loss %.6f%s\n", progress->objective, speed);
}

void screen_step(struct screen *screen, const struct progress *progress,
                 time_us now)
{
    if (screen->mode == SCREEN_LINES)
        tell_step(screen, progress, now);
    if (screen->mode != SCREEN_BLOCK || now - screen->drawn_at < REDRAW_US)
        return;
    screen->drawn_at = now;
    draw_block(screen, progress, NULL, 0, now);
}

static void tell_waiting(struct screen *screen, const struct progress *progress,
                         time_us now)
{
    char text[WAITING_TEXT];
    const char *due = waiting_look(&screen->waiting, progress, now, text);

    if (due != NULL)
        (void)snprintf(screen->await, sizeof screen->await, "%s", due);
    else if (screen->waiting.since == 0)
        screen->await[0] = '\0';
    if (due != NULL && screen->mode == SCREEN_LINES)
        (void)fprintf(stderr, "%s\n", due);
}

void screen_update(struct screen *screen, const struct progress *progress,
                   const struct trace *trace,
                   const struct train_process *processes, uint32_t count,
                   time_us now)
{
    if (screen->mode == SCREEN_LINES)
        tell_coordinator(screen, progress,
                         screen_pid("coordinator", processes, count));
    if (screen->mode == SCREEN_LINES && trace != NULL) {
        tell_event(progress, trace);
        if (trace->kind == TRACE_COMMIT)
            tell_step(screen, progress, now);
    }
    tell_waiting(screen, progress, now);
    if (screen->mode != SCREEN_BLOCK || now - screen->drawn_at < REDRAW_US)
        return;
    screen->drawn_at = now;
    draw_block(screen, progress, processes, count, now);
}

void screen_end(struct screen *screen, const struct progress *progress,
                const struct train_process *processes, uint32_t count)
{
    if (screen->mode != SCREEN_BLOCK)
        return;
    screen->invite = false; /* It is over. */
    draw_block(screen, progress, processes, count, screen->drawn_at);
}
