/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/dtls_why.h"

#include <stdio.h>

#include "net/dtls_handshake.h"

static const char *const words_of_ours[] = {
	[DTLS_WHY_CERT_CA] = "is of no authority in the ca file of this process",
	[DTLS_WHY_CERT_EXPIRED] = "has expired, or the clock of this host is wrong",
	[DTLS_WHY_CERT_EARLY] = "is not valid yet, or the clock of this host is wrong",
	[DTLS_WHY_CERT_PURPOSE] = "is not for both servers and clients of TLS",
	[DTLS_WHY_CERT_NAME] =
		"has no subjectAltName of that IP address, and there is no cert-names = any here",
	[DTLS_WHY_CERT_OTHER] = "is not accepted",
};

static const char *const words_of_theirs[] = {
	[DTLS_WHY_REFUSED_CERT_CA] = "is of no authority in its ca file",
	[DTLS_WHY_REFUSED_CERT_TIME] = "has expired or is not valid yet, by the clock there",
	[DTLS_WHY_REFUSED_CERT_PURPOSE] = "is not for both servers and clients of TLS",
	[DTLS_WHY_REFUSED_CERT_NAME] =
		"has no subjectAltName of the IP address seen there, and there is no cert-names = any",
	[DTLS_WHY_REFUSED_CERT_OTHER] = "is not accepted there",
};

static void write_certificate(const struct dtls_handshake *h, const char *who, char *text)
{
	enum dtls_why why = dtls_handshake_why(h);
	const char *detail = dtls_handshake_text(h);

	if (why >= DTLS_WHY_REFUSED_CERT_CA)
		snprintf(text, DTLS_WHY_TEXT,
			 "%s refuses the certificate of this process, which %s", who,
			 words_of_theirs[why]);
	else
		snprintf(text, DTLS_WHY_TEXT, "%s has the certificate \"%s\", which %s%s%s%s", who,
			 dtls_handshake_identity(h), words_of_ours[why], *detail ? " (" : "",
			 detail, *detail ? ")" : "");
}

void dtls_why_write(const struct dtls_handshake *h, const struct dtls_credentials *c,
		    const char *who, char text[DTLS_WHY_TEXT])
{
	const char *name = dtls_handshake_identity(h), *kind = dtls_credentials_kind(c);

	switch (dtls_handshake_why(h)) {
	case DTLS_WHY_NO_IDENTITY:
		snprintf(
			text, DTLS_WHY_TEXT,
			"%s connects with the key \"%s\", which the key file of this process does not "
			"have: both need that line",
			who, name);
		break;
	case DTLS_WHY_OTHER_KEY:
		snprintf(text, DTLS_WHY_TEXT,
			 "%s connects with another key of the name \"%s\" than this process: "
			 "both need the same line",
			 who, name);
		break;
	case DTLS_WHY_REFUSED_NAME:
		snprintf(text, DTLS_WHY_TEXT,
			 "%s refuses: its key file does not have the key \"%s\" of this process: "
			 "both need that line",
			 who, name);
		break;
	case DTLS_WHY_REFUSED_KEY:
		snprintf(
			text, DTLS_WHY_TEXT,
			"%s refuses: it has another key of the name \"%s\" than this process: both "
			"need the same line",
			who, name);
		break;
	case DTLS_WHY_NO_SUITE:
		snprintf(text, DTLS_WHY_TEXT,
			 "%s does not connect with %s, as this process does: both need a key, "
			 "or both a certificate",
			 who, kind);
		break;
	case DTLS_WHY_REFUSED_SUITE:
		snprintf(text, DTLS_WHY_TEXT,
			 "%s refuses: it does not take %s, which this process uses: both need "
			 "a key, or both a certificate",
			 who, kind);
		break;
	case DTLS_WHY_CERT_NONE:
		snprintf(text, DTLS_WHY_TEXT,
			 "%s shows no certificate, which this process requires", who);
		break;
	case DTLS_WHY_NOT:
	case DTLS_WHY_SILENCE:
		snprintf(text, DTLS_WHY_TEXT, "no session with %s", who);
		break;
	case DTLS_WHY_ERROR:
		snprintf(text, DTLS_WHY_TEXT, "no session with %s: %s", who,
			 dtls_handshake_text(h));
		break;
	default:
		write_certificate(h, who, text);
		break;
	}
}
