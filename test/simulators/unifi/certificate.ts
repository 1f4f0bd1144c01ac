// The self-made certificates of simulated consoles, as real ones have them: nobody has signed them, their name is
// unifi.local. The keys guard nothing.

/** A certificate with its key, both PEM. */
export interface SimCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What a console has. */
export const certificate: SimCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgp/ai687eBIdM3P0F
3sEMNYE4U+Em5fBnVRYZ0ncnpxKhRANCAATdoywA48+IN1mcQVUmP+0XuHr5rkE2
ur419jN8w3sFgNQ47zR1aoNOEo8Uix5d6I7A3R7Y3GHX7TIiJm2lx+WU
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAt1bmlmaS5s
b2NhbDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLdW5pZmkubG9jYWwwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATdoywA48+I
N1mcQVUmP+0XuHr5rkE2ur419jN8w3sFgNQ47zR1aoNOEo8Uix5d6I7A3R7Y3GHX
7TIiJm2lx+WUo0cwRTAWBgNVHREEDzANggt1bmlmaS5sb2NhbDAMBgNVHRMBAf8E
AjAAMB0GA1UdDgQWBBQBq8cTUWnH3cd4rC3pG+qgHijcBjAKBggqhkjOPQQDAgNJ
ADBGAiEAxKsOeRKoyn+OSkl0vrdfHEaQPbWzoDKFotgTT5ByAn8CIQDY1fxJJdnA
KGyatbWjyITRW+Q5Jrei6h0RuwLMlWRiAw==
-----END CERTIFICATE-----`,
};

/** What somebody else has who stands in between. */
export const anotherCertificate: SimCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg29sf2NYV/m08bB5C
4s+RiqN08Y6weH6/gLuZcON8gqqhRANCAATGs4J9Icjr1PvXNyj2fiMBpjmnEmoo
rCTUETKVzSsZ0NuzhxRbWEpueJ1vOGu8ATwmnn8C6y363IVkUJdb9T+7
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAt1bmlmaS5s
b2NhbDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLdW5pZmkubG9jYWwwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATGs4J9Icjr
1PvXNyj2fiMBpjmnEmoorCTUETKVzSsZ0NuzhxRbWEpueJ1vOGu8ATwmnn8C6y36
3IVkUJdb9T+7o0cwRTAWBgNVHREEDzANggt1bmlmaS5sb2NhbDAMBgNVHRMBAf8E
AjAAMB0GA1UdDgQWBBSsuOqCbSodCxr3iT4cm4RWBBqKiTAKBggqhkjOPQQDAgNJ
ADBGAiEA8NKHn2hlTDPC+KUdMmLWX+PRyqYDs1asz616zqlZPgsCIQD9Bs+9rGRP
Gq6mzN/o7SzG7hqv1H/DcUCxMeQBa+dzUg==
-----END CERTIFICATE-----`,
};
