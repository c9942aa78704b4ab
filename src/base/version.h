/*
 * version.h - which Muster this is.
 */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

extern const char version_text[];

#endif /* BASE_VERSION_H */
