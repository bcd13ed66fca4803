// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// What an account may do for its issuer, one bit each.

/// @dev Issue documents and batches.
uint8 constant ISSUE = 1;
/// @dev Revoke, suspend and release documents and batches.
uint8 constant REVOKE = 2;
/// @dev Run the issuer: its accounts, distrust, and a veto on the admin's proposal.
uint8 constant MANAGE = 4;
/// @dev Use the other permissions through the trusted forwarder too.
uint8 constant DELEGATE = 8;

uint8 constant ALL_PERMISSIONS = ISSUE | REVOKE | MANAGE | DELEGATE;
