/*
 * welcome.c - objections to a HELLO, terms, and the server of rows.
 */
#include "node/ring/welcome.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/link/greeting.h"
#include "node/worker/peer_server.h"
#include "os/log.h"
#include "os/net/token.h"

struct welcome {
    const struct papers_kept *papers;
    const char *host;
    struct peer_server *server;
    struct token token; /* Of the server; no name: it is not open yet. */
    uint16_t port;      /* 0: it cannot be. */
};

enum err welcome_new(struct loop *loop, const struct papers_kept *papers,
                     const struct dataset *data, const char *host,
                     struct welcome **welcome)
{
    struct welcome *made = mem_new(1, sizeof *made);
    enum err err = made != NULL ? ERR_OK : ERR_NOMEM;

    if (err == ERR_OK && papers != NULL && papers->view.size > 0) {
        made->papers = papers;
        made->host = host;
        err = peer_server_new(loop, data, false, &made->server);
    }
    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    if (made->server != NULL)
        peer_server_papers(made->server, &papers->view);
    *welcome = made;
    return ERR_OK;
}

void welcome_free(struct welcome *welcome)
{
    if (welcome == NULL)
        return;
    peer_server_free(welcome->server);
    token_close(&welcome->token);
    mem_free(welcome);
}

static const char *objection(const struct welcome *welcome,
                             const struct peer *peer,
                             const struct msg_hello *hello)
{
    const char *why = greeting_objection(hello->version, &hello->arithmetic,
                                         &peer->options.arithmetic);

    if (why != NULL)
        return why;
    if (peer->options.home_count > 0)
        return "the rows of this ring stay with their owners, and nobody is "
               "sent any; an owner comes with `muster train --topology ring "
               "--owners N --data-private FILE --peers ADDRESS`";
    if (welcome->papers == NULL)
        return "this ring is of one machine; to be joined by others it is "
               "started with --listen HOST:PORT";
    if (peer->phase >= PEER_LINGERING)
        return "this training is over";
    if (strcmp(hello->name, TOKEN_CLUSTER) == 0)
        return "no peer is called cluster; choose another --name";
    return NULL;
}

static void open_server(struct welcome *welcome)
{
    struct why why = {0};

    if (welcome->token.name[0] != '\0')
        return;
    token_draw(&welcome->token);
    if (peer_server_open(welcome->server, welcome->host, welcome->token.key,
                         &welcome->port, &why) == ERR_OK)
        return;
    welcome->port = 0;
    log_line("machines that join cannot fetch rows from this one: %s",
             why.text);
}

/* Where this peer is, and those that it hears. */
static void tell_places(const struct peer *peer, struct msg_terms *terms)
{
    for (uint32_t i = 0; i < peer->seat_count && terms->count < TERMS_PLACES;
         i++) {
        const struct peer_seat *seat = &peer->seats[i];
        const char *place = i == 0 ? peer->options.place : seat->place;

        if ((i > 0 && seat->link == PEER_NO_LINK) || place[0] == '\0' ||
            place[0] == ':')
            continue;
        memcpy(terms->place[terms->count++], place, PEER_PLACE);
    }
}

const char *welcome_answer(struct welcome *welcome, const struct peer *peer,
                           const struct msg_hello *hello,
                           struct msg_terms *terms)
{
    const char *why = objection(welcome, peer, hello);

    if (why != NULL)
        return why;
    open_server(welcome);
    *terms = (struct msg_terms){.config = peer->options.config,
                                .papers = welcome->papers->digest,
                                .papers_size = welcome->papers->view.size,
                                .chunks = welcome->papers->chunks,
                                .port = welcome->port};
    if (!token_key_of(&welcome->token, hello->name, terms->key))
        return "this is no name for a peer";
    tell_places(peer, terms);
    return NULL;
}
