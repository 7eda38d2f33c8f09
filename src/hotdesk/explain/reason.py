"""Why a decision fell as it did: a code that tests, reports and users may rely on, and one sentence that says what it means."""

from __future__ import annotations

from enum import Enum


class Reason(str, Enum):
    """Why a decision fell as it did. The value is the stable code, `text` the sentence."""

    _value_: str
    text: str

    def __new__(cls, code: str, text: str) -> Reason:
        member = str.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    def __str__(self) -> str:
        return self.value

    # For reuse
    DIES_HERE = "dies-here", "The operand is not read after this operation."
    CHECKED_FIRST = "checked-first", "The check is made before the program writes state or arguments."
    RESULT_SLOT = "result-slot", "The value is a result of the program and is computed in the caller's memory."
    OVERWRITTEN_UNREAD = "overwritten-unread", "What the buffer holds is overwritten before anything reads it."
    LIVE_RANGE_ENDED = "live-range-ended", "The buffer that had these bytes is not used any more."
    FREED_IF_OWNED = (
        "freed-if-owned",
        "The buffer is the function's to free on some paths only, so a flag tells at run time.",
    )
    WEIGHT_ONLY = "weight-only", "The value depends on weights alone, so it is computed once."
    PREPARED_TOO_LARGE = (
        "prepared-too-large",
        "What is computed once from weights may take a number of bytes together, in which the value has no room.",
    )
    CHEAP_TO_RECOMPUTE = "cheap-to-recompute", "Computing the value again costs less than keeping it."
    SINGLE_READER = "single-reader", "One operation reads the value, element by element, so the two become one."
    VIEW_OF_OPERAND = "view-of-operand", "The value has the elements of its operand in another arrangement."
    ARGUMENT_AS_IS = "argument-as-is", "The argument is read where the caller keeps it."
    DONATED = "donated", "The caller gave the argument away, so it may be overwritten."
    WRITTEN_IN_DESTINATION = "written-in-destination", "The value is computed where it is inserted in the end."
    READ_AS_WRITTEN = "read-as-written", "Each element is read where it was just written, so the two loops become one."
    BLOCK_BY_BLOCK = (
        "block-by-block",
        "The elements are made and used block by block, so they are never in memory together.",
    )
    ROUNDED_AS_SUMMED = (
        "rounded-as-summed",
        "The product rounds each sum to 16 bits as it writes it, so the sums are never in memory in 32 bits.",
    )
    READ_IN_PARTS = "read-in-parts", "Each reader takes the operands one by one, so they are never put together."
    RETURNED_AS_MADE = (
        "returned-as-made",
        "The result is returned in the memory that it was made in, which belongs to the caller from then on.",
    )
    STATE = "state", "The tensor is state: the program changes it where it lies."
    EQUALS_ARGUMENT = "equals-argument", "The result is an argument as it came, which the caller has already."
    DOMINATES_ALL_USES = (
        "dominates-all-uses",
        "On every path to an operation that uses the buffer, it is allocated before.",
    )
    SERVES_EVERY_ITERATION = (
        "serves-every-iteration",
        "No iteration wants what the buffer held in another one, so one allocation serves them all.",
    )
    COMPUTED_ONCE = (
        "computed-once",
        "Iterations of outer loops share the value, so it is computed once in front of them.",
    )
    SMALL_AND_LOCAL = "small-and-local", "The buffer is small, and nothing uses it after the scope that it is made in."
    PLACED_IN_ARENA = "placed-in-arena", "The buffer has a place in the function's arena."
    MOVED_WITHIN = (
        "moved-within",
        "The elements go to other places of the memory that they lie in, in an order that overwrites none before it is read.",
    )
    COPY_OF_ITSELF = "copy-of-itself", "Source and target are the same memory."
    NOTHING_COPIED = "nothing-copied", "The buffers have no elements."
    ALREADY_THERE = "already-there", "The target holds already what the copy would write."
    SOURCE_REUSED = "source-reused", "The source serves in place of the target."
    TARGET_REUSED = "target-reused", "What is copied is computed in the target from the start."

    PART_BY_PART = "part-by-part", "All that make and read the value work on one part of it after the other."
    NOT_KEPT_AT_PEAK = (
        "not-kept-at-peak",
        "Making the value again takes less memory than keeping it while others are large.",
    )
    ONLY_READ_LATER = (
        "only-read-later",
        "Nothing reads the value before, and what it is made of is kept until then, or smaller.",
    )

    ADDED_WHERE_IT_LIES = (
        "added-where-it-lies",
        "The operation adds its result to the rest of the sum that reads it, where that rest is.",
    )
    SUMMED_IN_BLOCKS = (
        "summed-in-blocks",
        "The sum is over so many rows that they are added up in blocks, whose rows are added up then.",
    )
    WITHIN_BUDGET = "within-budget", "The program has to fit in a number of bytes, and this costs least of what helps."

    FRAME_FOR_EACH_WORKER = (
        "frame-for-each-worker",
        "Each worker of the loop has memory of its own for what iterations allocate, so threads share the loop.",
    )
    PARTIAL_RESULTS = (
        "partial-results",
        "The loop is cut in chunks that reduce to a value each, whatever the number of threads; these are combined in order.",
    )

    LOWER_PEAK = "lower-peak", "In this order, the operations need fewer bytes at the peak."
    LOWEST_PEAK = "lowest-peak", "In no order do the operations need fewer bytes at the peak than in this one."

    SMALLER_ARENA = "smaller-arena", "With the operations in this order, the plan needs fewer bytes."

    NO_LOWERING = (
        "no-lowering",
        "Nothing lowers the operation, so the program calls the kernel that PyTorch, or another library, has for it.",
    )

    KEPT_FOR_CHECKS = (
        "kept-for-checks",
        "A check may end the call when this is partly written, so what it held is copied first, and then put back.",
    )

    # Against reuse
    NO_ORDER_BELOW = (
        "no-order-below",
        "In no order do the operations need fewer bytes at the peak than in the given one.",
    )
    NO_ORDER_FOUND = "no-order-found", "No order was found in which the operations need fewer bytes at the peak."
    ARENA_NOT_SMALLER = (
        "arena-not-smaller",
        "The other order needs fewer bytes by the estimate, but the plan made for it does not.",
    )
    ARENA_DEPENDS_ON_SIZES = (
        "arena-depends-on-sizes",
        "It is not proven that the plan for the other order needs no more bytes for any sizes.",
    )
    PEAK_DEPENDS_ON_SIZES = (
        "peak-depends-on-sizes",
        "For some sizes, another order might need more bytes at the peak than the given one.",
    )
    SLICE_INSTEAD = (
        "slice-instead",
        "What it is a slice of is overwritten before it is read, and has more bytes to copy.",
    )
    SLICE_OVERWRITTEN = (
        "slice-overwritten",
        "A part of the slice is overwritten, which must not happen where it lies.",
    )
    READ_LATER = "read-later", "The operand's old value is read after this operation."
    READ_BY_SAME_OP = "read-by-same-op", "The operation reads the operand at places it has already overwritten."
    ALREADY_OVERWRITTEN = "already-overwritten", "An earlier operation has taken the operand's buffer for its result."
    NOT_WRITABLE_INPUT = "not-writable-input", "The operand is an argument of the program, which belongs to the caller."
    NOT_WRITABLE_WEIGHT = "not-writable-weight", "The operand is a weight, and weights are never overwritten."
    NOT_WRITABLE_CONSTANT = "not-writable-constant", "The operand is a constant, and constants are never overwritten."
    NOT_WRITABLE_MEMORY = (
        "not-writable-memory",
        "The operand lies in memory that comes from elsewhere, and nothing says that it may be written.",
    )
    NO_DEAD_OPERAND_OF_SAME_SIZE = (
        "no-dead-operand-of-same-size",
        "No operand that dies here has as many bytes as the result.",
    )
    DIFFERENT_ELEMENT_TYPE = "different-element-type", "The operand that dies here has another element type."
    DIFFERENT_LAYOUT = (
        "different-layout",
        "The operand that dies here is read in another order than the result is written.",
    )
    SIZE_NOT_PROVEN_EQUAL = "size-not-proven-equal", "The sizes are symbolic and could not be proven equal."
    RETURNED_INPUT = "returned-input", "The result is an argument as it came, and a result has memory of its own."
    RETURNED_WEIGHT = "returned-weight", "The result is a weight, and a result has memory of its own."
    RETURNED_TWICE = "returned-twice", "The value is returned more than once, and each result has memory of its own."
    RETURNED_FREED_OTHERWISE = (
        "returned-freed-otherwise",
        "The result is memory that another op frees than the caller would.",
    )
    RETURNED_VIEW = "returned-view", "The result is a view of a value that is returned as well or used differently."
    PARTIAL_VIEW_RETURNED = (
        "partial-view-returned",
        "The result is a part of a larger value, so only that part is kept.",
    )
    WORKSPACE = "workspace", "The operation's kernel needs scratch memory while it runs."
    RUNS_IN_PARALLEL = (
        "runs-in-parallel",
        "Executions of the loop may run at the same time, so each writes memory of its own.",
    )
    PARTIAL_VIEW = "partial-view", "The operand that dies here is a part of a larger buffer, which would stay alive."
    DONATED_NOT_USABLE = (
        "donated-not-usable",
        "The donated argument is read-only or not aligned to 16 bytes, so a copy of it is overwritten.",
    )
    NON_CONTIGUOUS_ARGUMENT = "non-contiguous-argument", "The argument has gaps or another order in memory."
    LIVE_AT_THE_SAME_TIME = "live-at-the-same-time", "Every buffer that is large enough is in use at this time."
    NOTHING_TO_SHARE = "nothing-to-share", "No buffer that it could share was allocated before it."
    TOO_SMALL = "too-small", "Every buffer that it could share has fewer bytes."
    SIZE_NOT_PROVEN = (
        "size-not-proven",
        "The sizes are symbolic, and of no buffer that it could share it is proven that it has as many bytes.",
    )
    USED_ACROSS_BLOCKS = (
        "used-across-blocks",
        "Several blocks of the function use the buffer, so it counts as in use in all of them.",
    )
    MULTIPLE_READERS = "multiple-readers", "More than one operation reads the value, so it is kept for them."
    BEYOND_THE_KERNEL = (
        "beyond-the-kernel",
        "The kernel that never has all elements in memory takes no elements of this type, or not what is done to them.",
    )
    DIFFERENT_BLOCK = "different-block", "The operations stand in different blocks, which may run unequally often."
    DESTINATION_LATER = "destination-later", "The destination is not known yet where the value is computed."
    DESTINATION_RAISES_PEAK = (
        "destination-raises-peak",
        "Computing the value where it is inserted would take more memory than the function does at its peak.",
    )
    DESTINATION_SHARED = (
        "destination-shared",
        "The destination's memory may be used by others until the value is inserted.",
    )
    NOT_PURE_TENSORS = (
        "not-pure-tensors",
        "The operations work on memory, where a write may change what another one reads.",
    )
    UNRANKED_TENSOR = "unranked-tensor", "The tensor has no rank, so its elements cannot be matched with loops."
    PRODUCER_REDUCES = (
        "producer-reduces",
        "The value is accumulated over a loop, so no single iteration has its elements.",
    )
    NOT_A_PERMUTATION = "not-a-permutation", "The elements are not read or written one for each iteration of the loops."
    NOT_ELEMENTWISE = "not-elementwise", "An operation reads the value otherwise than element by element."
    POSITION_READ = "position-read", "The elements that are computed depend on their position in the whole."
    TOO_MANY_OPERANDS = (
        "too-many-operands",
        "The readers would have to be made for more operands than the limit allows.",
    )
    ACCUMULATED_INTO = (
        "accumulated-into",
        "The value is what the operation accumulates into, so it has to be in memory.",
    )
    LOOP_SIZE_LOST = "loop-size-lost", "Without the value nothing would say how often a loop runs."
    MAY_OVERLAP = "may-overlap", "Two views may share elements that one operation writes and the other one uses."
    LIES_ELSEWHERE = "lies-elsewhere", "The value lies in other memory and is copied to where it has to be."
    NOT_FOLLOWED = (
        "not-followed",
        "The memory comes from, or goes to, where it is not followed who writes it, so it is copied.",
    )
    TOUCHED_BETWEEN = "touched-between", "An operation between the two reads or writes the same memory."
    NOT_ANALYSED = "not-analysed", "Nothing was asked about later readers, so the operand is never overwritten."
    ALLOCATED_INSIDE = (
        "allocated-inside",
        "The function makes the result's memory itself, so it is copied to the caller's.",
    )
    SIZE_UNKNOWN_TO_CALLER = "size-unknown-to-caller", "The caller cannot compute the result's size from its arguments."
    PUBLIC_FUNCTION = "public-function", "Others may call the function, so its signature stays as it is."
    SIZE_DEFINED_BELOW = (
        "size-defined-below",
        "The size is computed further down, so the allocation cannot stand higher.",
    )
    KEPT_BETWEEN_ITERATIONS = (
        "kept-between-iterations",
        "The buffer of one iteration is still in use in the next, which needs another.",
    )
    PARALLEL_ITERATIONS = "parallel-iterations", "Iterations that run at the same time each need a buffer of their own."
    FRAMES_RAISE_PEAK = (
        "frames-raise-peak",
        "Memory for two workers, or for partial results, would raise the function's peak by more bytes than are allowed.",
    )
    LOOP_REDUCES = "loop-reduces", "The order in which the loop reduces values of its iterations counts, or may count."
    LOOP_CALLS = "loop-calls", "An iteration calls a function, or another library's kernel, which may take memory."
    UNKNOWN_REGION = "unknown-region", "It is not known when and how often the region of this operation runs."
    FREED_ELSEWHERE = "freed-elsewhere", "The buffer is freed where it may be another one, or not on every path."
    TOO_LARGE = "too-large", "The buffer has more bytes than the limit allows."
    SIZE_NOT_STATIC = "size-not-static", "The size is not known before the program runs."
    LEAVES_SCOPE = "leaves-scope", "The buffer leaves the scope that it is made in."
    MADE_REPEATEDLY = "made-repeatedly", "A loop would make the buffer again and again, and the stack keeps each one."
    NOT_ALLOCATED_HERE = "not-allocated-here", "Neither buffer is allocated as a whole in the block of the copy."
    STILL_USED = "still-used", "Both buffers are used after the copy, and one of them is written."
    OTHER_TYPE = "other-type", "An operation that has the buffer does not take the other one's type."
    ALIGNMENT_ASSUMED = "alignment-assumed", "An operation counts on the alignment of the buffer's memory."
    OTHER_MEMORY_SPACE = "other-memory-space", "The buffers lie in different memory spaces."
    RAISES_PEAK = (
        "raises-peak",
        "Keeping a dead buffer until then would take more memory than the function does at its peak.",
    )
    UNSIZED_ELEMENT = (
        "unsized-element",
        "The elements are neither numbers nor vectors of numbers, so their bytes are not known.",
    )
    DOES_MORE_THAN_ALLOCATE = (
        "does-more-than-allocate",
        "The operation that allocates does more than that, such as filling the memory, so it stays as it is.",
    )
    ASYNCHRONOUS = (
        "asynchronous",
        "The allocation takes or makes a token, which gives it a place among what runs beside the program.",
    )
    NOT_KNOWN_TO_MOVE = (
        "not-known-to-move",
        "Nothing says that the operation may allocate earlier or later, or more or less often.",
    )
    NOT_ORDINARY_MEMORY = (
        "not-ordinary-memory",
        "Nothing says that other memory is as good as what the operation allocates.",
    )
    FREED_BY_ANOTHER_OP = "freed-by-another-op", "The two buffers come from different allocators."
    KEPT_BY_UNKNOWN = "kept-by-unknown", "It is not known whether an operation keeps the buffer for later."
    ADDRESS_TAKEN = "address-taken", "The function is used otherwise than by calls, so its signature stays as it is."
    NO_BODY = "no-body", "The function that is called has no body here, so it is not known what it could overwrite."
    RECURSIVE_CALL = "recursive-call", "The function may call itself, so it is not known what it could overwrite."
    CALLEE_KEEPS_ARGUMENT = (
        "callee-keeps-argument",
        "The function that is called cannot write its result where the argument lies.",
    )
    WRITTEN_BEFORE_CHECK = (
        "written-before-check",
        "The check needs what is made or written later, so a call that it ends may have written state or arguments.",
    )
