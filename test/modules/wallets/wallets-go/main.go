// The wallet of Yivi (irmago) and its verifier of SD-JWT VCs, driven from our tests.
//
//	wallets-go import FOLDER LINK [TX_CODE]   fetches the credential of an offer
//	wallets-go list FOLDER                    asks for the status of what the wallet holds
//	wallets-go present FOLDER LINK            answers a request of a verifier
//	wallets-go verify FOLDER AUDIENCE NONCE   verifies the presentation on the standard input
//
// Each command prints one JSON value: its result, or {"error"}. WALLET_SERVER is the address of the
// only server, WALLET_HTTPS_AUTHORITY and WALLET_ISSUER_AUTHORITY are certificates in PEM. The parts are put together as in
// client.New of irmago, which needs libsqlcipher; the database here is not encrypted.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/glebarez/sqlite"
	"github.com/privacybydesign/irmago/common/clientmodels"
	"github.com/privacybydesign/irmago/eudi"
	"github.com/privacybydesign/irmago/eudi/credentials/sdjwtvc"
	"github.com/privacybydesign/irmago/eudi/credentials/statuslist"
	eudi_jwt "github.com/privacybydesign/irmago/eudi/jwt"
	"github.com/privacybydesign/irmago/eudi/openid4vci"
	"github.com/privacybydesign/irmago/eudi/openid4vp"
	"github.com/privacybydesign/irmago/eudi/openid4vp/dcql"
	"github.com/privacybydesign/irmago/eudi/openid4vp/eudi_sdjwt_dcql"
	"github.com/privacybydesign/irmago/eudi/sdjwt"
	"github.com/privacybydesign/irmago/eudi/services"
	"github.com/privacybydesign/irmago/eudi/storage"
	"github.com/privacybydesign/irmago/eudi/storage/db"
	"github.com/privacybydesign/irmago/eudi/storage/filesystem"
	"github.com/sirupsen/logrus"
)

func main() {
	// irmago's database logs to the standard output.
	out := os.Stdout
	os.Stdout = os.Stderr
	result, err := run(os.Args[1:])
	if err != nil {
		result = map[string]string{"error": err.Error()}
	}
	if err := json.NewEncoder(out).Encode(result); err != nil {
		panic(err)
	}
}

func run(args []string) (any, error) {
	if len(args) < 2 {
		return nil, errors.New("a command and a folder are required")
	}
	stayLocal(os.Getenv("WALLET_SERVER"), os.Getenv("WALLET_HTTPS_AUTHORITY"))
	w, err := open(args[1], os.Getenv("WALLET_ISSUER_AUTHORITY"))
	if err != nil {
		return nil, err
	}
	defer w.storage.Close()
	switch command, rest := args[0], args[2:]; {
	case command == "import" && len(rest) >= 1:
		return w.fetch(rest[0], rest[1:])
	case command == "list":
		return w.list()
	case command == "present" && len(rest) == 1:
		return w.present(rest[0])
	case command == "verify" && len(rest) == 2:
		return w.verify(rest[0], rest[1])
	}
	return nil, errors.New("unknown command")
}

// stayLocal makes every client of this process talk to one server, whatever the name.
func stayLocal(server string, authority string) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	dialer := &net.Dialer{}
	http.DefaultTransport = &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, server)
		},
		TLSClientConfig: &tls.Config{RootCAs: roots},
	}
}

type wallet struct {
	storage     storage.Storage
	credentials services.CredentialService
	revocation  *services.RevocationService
	issuance    *openid4vci.Client
	disclosure  *openid4vp.Client
	trust       sdjwtvc.SdJwtVcVerificationContext
	lists       statuslist.VerificationContext
}

// open opens a folder. Issuers with a certificate of the authority are trusted, besides those of Yivi.
func open(folder string, authority string) (*wallet, error) {
	eudi.Logger = logrus.New()
	locale := clientmodels.NewCurrentLocale("en")
	files := filesystem.NewFileSystemStorage([32]byte{}, folder)
	store, err := storage.NewStorageWithDialector(sqlite.Open(filepath.Join(folder, "wallet.db")), files)
	if err != nil {
		return nil, err
	}
	config, err := eudi.NewConfiguration(store)
	if err != nil {
		return nil, err
	}
	if authority != "" {
		if err := config.Issuers.InstallCertificate([]byte(authority)); err != nil {
			return nil, err
		}
	}
	if err := config.Reload(); err != nil {
		return nil, err
	}

	clock := eudi_jwt.NewSystemClock()
	held := db.NewCredentialStore(store.Db())
	lists := statuslist.VerificationContext{X509Context: &config.Issuers, Clock: clock}
	statuses := statuslist.NewChecker(lists, db.NewStatusListCacheStore(store.Db()))
	trust := sdjwtvc.SdJwtVcVerificationContext{
		X509VerificationContext: &config.Issuers,
		Clock:                   clock,
		JwtVerifier:             sdjwt.NewJwxJwtVerifier(),
		StatusChecker:           statuses,
	}
	revocation := services.NewRevocationService(statuses, held)
	keys := services.NewHolderBindingKeyService(store.Db())
	credentials := services.NewCredentialService(
		held, db.NewHolderBindingKeyStore(store.Db()), files, revocation, locale,
	)
	issuance, err := openid4vci.NewClient(
		http.DefaultClient, config, sdjwtvc.NewHolderVerificationProcessor(trust), credentials, keys, locale,
	)
	if err != nil {
		return nil, err
	}
	queries := eudi_sdjwt_dcql.NewSdJwtVcDcqlHandler(
		store, held, nil, nil, sdjwt.NewDefaultKeyBinder(keys), locale, revocation,
	)
	disclosure, err := openid4vp.NewClient(
		config, []dcql.DcqlCredentialQueryHandler{queries}, openid4vp.NewDidVerifierValidator(false), locale,
	)
	if err != nil {
		return nil, err
	}
	return &wallet{store, credentials, revocation, issuance, disclosure, trust, lists}, nil
}

// session is a holder who agrees to everything.
type session struct {
	txCode *string
	done   chan error
}

func (s *session) wait() error {
	return <-s.done
}

func (s *session) Failure(err *clientmodels.SessionError) {
	s.done <- errors.New(err.WrappedError)
}

func (s *session) Cancelled() {
	s.done <- errors.New("cancelled")
}

type issuanceSession struct{ session }

func (s *issuanceSession) Success(string, []*clientmodels.Credential) {
	s.done <- nil
}

func (s *issuanceSession) RequestPreAuthorizedCodeFlowPermission(
	request *clientmodels.PreAuthorizedCodeFlowPermissionRequest,
	_ *clientmodels.TrustedParty,
	agree openid4vci.TokenPermissionHandler,
) {
	if request.RemainingAttempts != nil {
		s.done <- errors.New("the tx_code is wrong")
		agree(false, nil)
		return
	}
	agree(true, s.txCode)
}

func (s *issuanceSession) RequestAuthorizationCodeFlowPermission(
	*clientmodels.AuthorizationCodeFlowRequest, *clientmodels.TrustedParty, openid4vci.AuthCodeHandler,
) {
	s.done <- errors.New("asked for an authorization code")
}

func (s *issuanceSession) RequestPermission(
	_ []*clientmodels.Credential, _ *clientmodels.TrustedParty, agree openid4vci.PermissionHandler,
) {
	agree(true)
}

func (w *wallet) fetch(link string, txCode []string) (any, error) {
	s := &issuanceSession{session{done: make(chan error, 2)}}
	if len(txCode) > 0 {
		s.txCode = &txCode[0]
	}
	w.issuance.NewSession(1, link, "https://wallet.example/callback", s)
	if err := s.wait(); err != nil {
		return nil, err
	}
	return w.credentials.GetCredentialMetadataList()
}

func (w *wallet) list() (any, error) {
	if _, err := w.revocation.RefreshStatuses(context.Background()); err != nil {
		return nil, err
	}
	return w.credentials.GetCredentialMetadataList()
}

type disclosureSession struct{ session }

func (s *disclosureSession) Success(string, []clientmodels.LogCredential) {
	s.done <- nil
}

func (s *disclosureSession) DeliverDcApiResponse(string) {}

func (s *disclosureSession) RequestVerificationPermission(
	plan *clientmodels.DisclosurePlan,
	_ *clientmodels.TrustedParty,
	queryOf map[string]string,
	agree openid4vp.PermissionHandler,
) {
	var chosen []dcql.DisclosureSelection
	for _, choice := range plan.DisclosureChoicesOverview {
		if len(choice.OwnedOptions) == 0 {
			s.done <- errors.New("the wallet has nothing that fits")
			agree(false, nil)
			return
		}
		for _, one := range choice.OwnedOptions[0].Credentials {
			selection := dcql.DisclosureSelection{QueryId: queryOf[one.Hash], CredentialHash: one.Hash}
			for _, attribute := range one.Attributes {
				selection.ClaimPaths = append(selection.ClaimPaths, attribute.ClaimPath)
			}
			chosen = append(chosen, selection)
		}
	}
	agree(true, chosen)
}

func (w *wallet) present(link string) (any, error) {
	s := &disclosureSession{session{done: make(chan error, 2)}}
	w.disclosure.NewSession(link, s)
	return nil, s.wait()
}

func (w *wallet) verify(audience, nonce string) (any, error) {
	presentation, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, err
	}
	trust := w.trust
	trust.ExpectedAudience, trust.ExpectedNonce = audience, nonce
	// A verifier that has kept no list.
	trust.StatusChecker = statuslist.NewChecker(w.lists, nil)
	verified, err := sdjwtvc.NewVerifierVerificationProcessor(true, trust).
		ParseAndVerifySdJwtVc(sdjwtvc.SdJwtVcKb(presentation))
	if err != nil {
		return nil, err
	}
	claims, err := json.Marshal(verified.ProcessedSdJwtPayload)
	if err != nil {
		return nil, fmt.Errorf("the claims are not JSON: %w", err)
	}
	return json.RawMessage(claims), nil
}
