// SPDX-License-Identifier: Apache-2.0
// hfi1 (Omni-Path): 64 bits but where the name ends in ",32". Hundreds of counters for engineers of the chip have rows by prefix.
#include "collectors/vocabulary/families.h"
#include "collectors/vocabulary/tables.h"

namespace qpscope {
namespace {

using enum Unit;

// clang-format off: a table is read in columns
constexpr CounterRow kRows[] = {
    // The driver says in the name how wide the counter of the chip is (hw/hfi1/chip.c init_cntrs).
    {"*,32",         {}, events,  k32, nullptr,                {},             "A counter of 32 bits."},
    // Of the port: what its driver does in software (hw/hfi1/rc.c).
    {"RcResend",     {}, packets, k64, &kRetransmittedPackets, {},             "Packets sent again."},
    {"RcTimeOut",    {}, events,  k64, &kRetransmits,          "ack_timeout",  "Times the ACK timer of a requester ran out."},
    {"SeqNak",       {}, events,  k64, &kRetransmits,          "sequence_nak", "NAKs for a sequence error received."},
    {"RdmaSeq",      {}, events,  k64, &kRetransmits,          "implied_nak",  "READ responses out of sequence: a NAK implied."},
    {"RnrNak",       {}, events,  k64, &kRnr,                  {},             "RNR NAKs received."},
    {"RcSeqNak",     {}, packets, k64, &kOutOfSequence,        {},             "Requests out of sequence for which a NAK was sent."},
    {"RcDupRew",     {}, packets, k64, &kDuplicates,           {},             "Requests received again."},
    {"OtherNak",     {}, events,  k64, nullptr,                {},             "Other NAKs received."},
    {"RcAcks",       {}, packets, k64, nullptr,                {},             "ACKs received."},
    {"RcQacks",      {}, events,  k64, nullptr,                {},             "ACKs put off."},
    {"RcDelayComp",  {}, events,  k64, nullptr,                {},             "Completions put off."},
    {"RcCrWait",     {}, events,  k64, nullptr,                {},             "Waits for credits of a peer."},
    {"LoopPkts",     {}, packets, k64, nullptr,                {},             "Packets to this port itself."},
    {"PktDrop",      {}, packets, k64, nullptr,                {},             "Packets dropped."},
    {"DmaWait",      {}, events,  k64, nullptr,                {},             "Waits for DMA descriptors."},
    {"Unaligned",    {}, events,  k64, nullptr,                {},             "Unaligned sends."},
    {"UnknownFrame", {}, packets, k64, nullptr,                {},             "Packets of an unknown kind."},
    // Of the port: its link. counters/ has the same bytes and packets.
    {"RxPkt",        {}, packets, k64, nullptr,                {},             "Packets received, as counters/port_rcv_packets."},
    {"RxWords",      {}, unknown, k64, nullptr,                {},             "Flits received."},
    {"TxPkt",        {}, packets, k64, nullptr,                {},             "Packets sent, as counters/port_xmit_packets."},
    {"TxWords",      {}, unknown, k64, nullptr,                {},             "Flits sent."},
    {"TxWait",       {}, ticks,   k64, nullptr,                {},             "Time in which packets could not be sent."},
    {"TxFlitVL*",    {}, unknown, k64, nullptr,                {},             "Flits sent by a virtual lane."},
    {"TxPktVL*",     {}, packets, k64, nullptr,                {},             "Packets sent by a virtual lane."},
    {"TxWaitVL*",    {}, ticks,   k64, nullptr,                {},             "Time in which a virtual lane could not send."},
    {"RcvCstrErr",   {}, packets, k64, nullptr,                {},             "Packets received against a constraint."},
    {"XmitCstrErr",  {}, packets, k64, nullptr,                {},             "Packets not sent because of a constraint."},
    {"RcvHdrOvr*",   {}, packets, k64, nullptr,                {},             "Packets without room in the header queue of a context."},
    // Of the device.
    {"RxICrcErr,32", {}, packets, k32, &kIcrc,                 {},             "Packets received with a wrong invariant CRC."},
    {"Cce*",         {}, events,  k64, nullptr,                {},             "Errors of the configuration and control engine."},
    {"MISC_*",       {}, events,  k64, nullptr,                {},             "Errors of the rest of the chip."},
    {"Pcic*",        {}, events,  k64, nullptr,                {},             "Errors of the PCI interface."},
    {"Pio*",         {}, events,  k64, nullptr,                {},             "Errors and waits of programmed input and output."},
    {"SDma*",        {}, events,  k64, nullptr,                {},             "Errors of send DMA."},
    {"Rx*",          {}, events,  k64, nullptr,                {},             "Events of the receive engine."},
    {"Tx*",          {}, events,  k64, nullptr,                {},             "Events of the send engine."},
    {"Dc*",          {}, events,  k64, nullptr,                {},             "Events of the link."},
    {"DRIVER_*",     {}, events,  k64, nullptr,                {},             "Events that the driver counts."},
    {"Intr",         {}, events,  k64, nullptr,                {},             "Interrupts."},
    {"KmemWait",     {}, events,  k64, nullptr,                {},             "Waits for memory."},
    {"RcvLimit",     {}, events,  k64, nullptr,                {},             "Interrupts that met their limit of packets."},
    {"SendSched",    {}, events,  k64, nullptr,                {},             "Times the send engine was scheduled."},
    {"SeqDrop0",     {}, packets, k64, nullptr,                {},             "Packets dropped out of sequence."},
    {"TidWait",      {}, events,  k64, nullptr,                {},             "Waits for TIDs."},
    {"vTxWait",      {}, events,  k64, nullptr,                {},             "Waits for a send descriptor."},
};
// clang-format on

}  // namespace

constinit const DriverTable kHfi1Table{"hfi1", "hw/hfi1/chip.c", kRows};

}  // namespace qpscope
